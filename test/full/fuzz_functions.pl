# What hostile values do: random arguments of every function that everybody may execute, documents
# to import, and settings that any role, or the owner of a database, can change.  No crash, no
# internal error, and no SQLSTATE that is not documented.  SP_FUZZ=1000 makes that many calls of
# each function; SP_TEST_SEED repeats a run.

use SyncProbeTest;
use JSON::PP ();
use List::Util qw(shuffle);

my $calls = $ENV{SP_FUZZ} // 60;
seed_random();
my $node = probe_cluster('fuzz', conf => "log_min_messages = fatal\nmax_worker_processes = 16");
sql($node, <<'SQL');
CREATE ROLE nobody LOGIN;
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
SELECT FROM sync_probe.probe('pg_default', duration => '100 ms', label => 'x');
SELECT FROM unnest('{wal,stream,segments,commit,pg_test_fsync}'::text[]) AS suite,
    LATERAL sync_probe.probe('pg_wal', suite, duration => '2 s');
SELECT sync_probe.commit_waits('100 ms');
SELECT FROM sync_probe.pgbench(clients => 1, transactions => 5, rows => 10);
SQL
let_runs_count($node);

# --- values

my @text = (q(''), q(' '), q('pg_wal'), q('fdatasync'), q('open_sync'), q('trial'), q('paced'),
	q('commit_delay'), q('sync_probe.runs'), q('NaN'), q('-1'), q('99999999999999999999'), q('a,b'),
	q('''"\\$1 %s %I'), q(E'\n\x01\t'), q('<b>&'), q('(a+)+$'), q('[{'), q('é漢' || chr(128512)),
	q(repeat('x', 100000)));
my @number = qw(0 1 -1 7 8192 2147483647 -2147483648);
my @float = (@number, qw('NaN' 'Infinity' '-Infinity' 1e308 -1e308 1e-308 0.5));
my @json = (map({ "'$_'" } 'null', '7', '"x"', '[]', '{}', '[null, [{}]]', '{"runs": [7]}',
		'{"disks": [7, {"name": {}}], "zfs": {"sync": []}, "others": {"seconds": 1e300}}',
		'{"format": "pg_sync_probe runs", "version": 1, "runs": [{}, 7]}'),
	q(repeat('[', 5000) || repeat(']', 5000)), q(to_jsonb(1e400::numeric)));
my %values = (text => \@text, name => \@text, jsonb => \@json, json => \@json, integer => \@number,
	boolean => [qw(true false)], bytea => [ q('\x'), q('\xc3ff00') ], regclass => [qw(0 1259)],
	bigint => [ @number, qw(9223372036854775807 '-9223372036854775808') ],
	'double precision' => \@float, numeric => [ @float, '1e1000' ], oid => [qw(0 1 4294967295)],
	interval => [ map { "'$_'" } '0', '1 us', '-1 s', '1 mon', '178000000 y', '-178000000 y' ],
	'timestamp with time zone' => [ map { "'$_'" } 'infinity', '-infinity', '294276-12-31',
		'4713-01-01 BC', 'now' ],
	anyelement => [ '1', q('x'::text), 'NULL::sync_probe.findings' ]);

# of composite types
my %columns = map { my ($type, @of) = split /\|/; $type => \@of } split /\n/, sql($node, <<'SQL');
SELECT format_type(t.oid, NULL) || '|'
       || string_agg(format_type(a.atttypid, NULL), '|' ORDER BY a.attnum)
FROM pg_type AS t JOIN pg_attribute AS a ON a.attrelid = t.typrelid
WHERE t.typnamespace::regnamespace::text ~ '^sync_probe' AND a.attnum > 0 AND NOT a.attisdropped
GROUP BY t.oid
SQL

sub value ($type)
{
	return $type eq 'anyelement' ? 'NULL::text' : "NULL::$type" if rand() < 0.15;
	return 'ARRAY[' . join(', ', map { value($type =~ s/\[\]$//r) } 1 .. rand 4) . "]::$type"
	  if $type =~ /\[\]$/;
	return 'ROW(' . join(', ', map { value($_) } @{ $columns{$type} }) . ")::$type"
	  if $columns{$type};
	my $values = $values{$type} or die "no values of type $type";
	my $value = $values->[ rand @$values ];
	return $type eq 'anyelement' ? $value : "($value)::$type";
}

# --- functions

my ($page) = slurp_file(source_directory() . '/doc/settings-and-privileges.md')
  =~ /^## SQLSTATEs\n(.*)/ms;
my %documented = map { $_ => 1 } $page =~ /\b(?=\w*\d)([0-9A-Z]{5})\b/g;

# Executes statements as a role; returns the SQLSTATE and message of each that failed.
sub errors_of ($role, @statements)
{
	my $script = "\\o /dev/null\n\\set VERBOSITY verbose\nSET statement_timeout = '60s';\n"
	  . "SET client_min_messages = error;\n"
	  . join '', map { "\\warn @ $_\n$statements[$_];\n" } 0 .. $#statements;
	my ($status, $out, $err) =
	  $node->psql('postgres', $script, on_error_stop => 0, extra_params => [ '-U', $role ]);
	my %error = $status == 0 ? () : (0 => "XXXXX: the connection is lost: $err");
	$error{$1} = $2 while $err =~ /^@ (\d+)\n[^@]*?ERROR:  (\w{5}: .*)$/mg;
	return \%error;
}

my ($count, %wrong) = (0);
for (split /\n/, sql($node, <<'SQL'))
SELECT concat_ws('|', CASE p.prokind WHEN 'p' THEN 'CALL' ELSE 'SELECT * FROM' END,
                 format('%s.%s', p.pronamespace::regnamespace, p.proname),
                 (SELECT string_agg(format_type(t, NULL), '|' ORDER BY n)
                  FROM unnest(p.proargtypes) WITH ORDINALITY AS t (t, n)))
FROM pg_proc AS p
WHERE p.pronamespace::regnamespace::text ~ '^sync_probe' AND p.prorettype <> 'trigger'::regtype
  AND has_function_privilege('nobody', p.oid, 'EXECUTE')
SQL
{
	my ($call, $function, @types) = split /\|/;
	my @statements = map { "$call $function(" . join(', ', map { value($_) } @types) . ')' }
	  1 .. (@types ? $calls : 1);
	my $others = $function =~ /_internal/ ? qr/^(?:22|3F|42|54)/ : qr/^$/;
	for my $role (qw(nobody monitor))
	{
		my $error = errors_of($role, @statements);
		$count += @statements;
		for (keys %$error)
		{
			my ($state) = $error->{$_} =~ /^(\w+)/;
			$wrong{"$function $error->{$_}"} //= $statements[$_]
			  unless $documented{$state} || $state =~ $others;
		}
	}
}
is(join("\n", map { "$_: " . substr($wrong{$_}, 0, 2000) } sort keys %wrong), '',
	"$count calls of functions");

# --- what is read of the history, and how many rows; or the error

sql($node, <<'SQL');
CREATE FUNCTION public.read_all(runs bigint[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    source text;
    rows bigint;
    ids text := quote_literal(runs);
BEGIN
    FOR source IN
        SELECT n.nspname || '.' || c.relname
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname ~ '^sync_probe' AND c.relkind IN ('r', 'v')
          AND c.relname !~ '^fleet_(findings|recommendations)$'
        UNION ALL SELECT 'sync_probe.' || call
        FROM unnest(ARRAY['history()', 'expect()', 'report_html()',
            'device_lifetime(''pg_wal'', 1000, 1000)', format('compare(%s)', ids),
            format('report_html(%s)', ids), format('export_json(%s)', ids)]) AS call
        ORDER BY 1
    LOOP
        BEGIN
            EXECUTE format('SELECT count(t::text) FROM %s AS t', source) INTO rows;
            RETURN NEXT source || ': ' || rows;
        EXCEPTION WHEN OTHERS THEN
            RETURN NEXT source || ': ' || SQLSTATE || ' ' || SQLERRM;
        END;
    END LOOP;
END
$$;
SQL
my $runs = sql($node, q(SELECT array_agg(run_id) FROM sync_probe.runs));
my $read = "SELECT public.read_all('$runs')";

# --- documents: what is not refused can be read

my $json = JSON::PP->new->allow_nonref;
my $document = sql($node, "SELECT sync_probe.export_json('$runs')");
my @strings = ('', 'x', '<b>', "\n", 'paced', 'fdatasync', '9' x 30, '178000000 years', '-1 s',
	'294276-12-31', '4713-01-01 BC', 'a"\'\\', 'y' x 5000);
my %leaf = (number => [ 0, 1, 7, 8191, 2147483647, 1e15, 1e-30, undef ],
	text => [ @strings, undef ],
	none => [ @strings, 0, 1e15, JSON::PP::true, [], {}, [ [ 1, 2 ] ], { x => [] } ]);

# All places of a document where a value could be another: the structure, and the key or index.
sub leaves ($in)
{
	return map { ref $in->{$_} && !JSON::PP::is_bool($in->{$_}) ? leaves($in->{$_}) : \$in->{$_} }
	  sort keys %$in if ref $in eq 'HASH';
	return map { ref $_ ? leaves($_) : \$_ } @$in;
}

my ($imported, %broken) = (0);
for (1 .. $calls)
{
	my $copy = $json->decode($document);
	for my $leaf ((shuffle(leaves($copy->{runs})))[ 0 .. rand 8 ])
	{
		my $kind = !defined $$leaf || ref $$leaf ? 'none'
		  : $$leaf =~ /^[-0-9.e]+$/ ? 'number' : 'text';
		$$leaf = $leaf{$kind}[ rand @{ $leaf{$kind} } ];
	}
	my $import = 'SELECT array_agg(i) AS ids FROM sync_probe.import_json($j$'
	  . $json->encode($copy) . '$j$) AS i \gset';
	my ($out, $err) = run_sql($node, "BEGIN;\n$import\nSELECT public.read_all(:'ids'); ROLLBACK");
	$imported++ if $out ne '';
	$broken{$1}++ while $out =~ /^(.*: \w{5} .*)$/mg;
	my ($state) = $err =~ /ERROR:  (\w{5}):/;
	$broken{$err}++ if defined $state && !$documented{$state} && $state !~ /^2[23]/;
}
is(join("\n", sort keys %broken), '', "$calls documents, of which $imported were imported");

# --- settings: none changes what is read

my $before = sql($node, $read);
unlike($before, qr/: \w{5} /, 'all can be read');
my ($settings, %odd) = (0);
for (split /\n/, sql($node, <<'SQL'))
LOAD 'pg_sync_probe';
SELECT format('SET LOCAL %I = %L', s.name, v)
FROM pg_settings AS s,
     unnest(CASE s.vartype WHEN 'bool' THEN '{on,off}' WHEN 'enum' THEN s.enumvals
                 WHEN 'string' THEN '{"","pg_temp, public"}'
                 ELSE ARRAY[s.min_val, s.max_val] END) AS v
WHERE s.context = 'user' AND v <> s.setting AND s.name <> 'pg_sync_probe.margin'
  AND s.name !~ '_timeout$|^transaction_|^log_|^client_min_messages$|^exit_on_error$'
SQL
{
	my ($out, $err) = run_sql($node, "BEGIN; $_;\n$read; ROLLBACK");
	next if $err =~ /^psql:<stdin>:3: ERROR/; # no valid value
	$settings++;
	$odd{$_} = "$out$err" if $out ne $before;
}
is(join("\n", map { "$_: $odd{$_}" } sort keys %odd), '', "$settings settings");

end_tests($node);
