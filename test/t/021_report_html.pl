# The page of report_html() in a real browser: what it complains of, what does not fit, what
# cannot be read, seen, reached by keyboard or printed.

use FindBin;
use lib $FindBin::RealBin;
use SyncProbeBrowser;
use SyncProbeTest;

plan skip_all => SyncProbeBrowser::MISSING unless SyncProbeBrowser::is_installed();

# Width of A4 between the margins of the page, and how wide these margins are, in pixels.
use constant { PAPER => 688, MARGIN => 40 };

my $browser = SyncProbeBrowser->start;
my $directory = PostgreSQL::Test::Utils::tempdir();

sub show { $browser->open_page(write_file("$directory/page.html", $_[0])) }

# What a check complains of, in one text.
sub complaints { return join "\n", $browser->check(@_) }

# ------------------------------------------------------------- the checks themselves
#
# A page that is good, and what makes it bad: each check must find that.

my $good = <<'HTML';
<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>good</title>
<meta name=color-scheme content="light dark"><style>
:root{--bg:#fff;--ink:#222}@media (prefers-color-scheme:dark){:root{--bg:#111;--ink:#ddd}}
body{background:var(--bg);color:var(--ink);margin:20px}
.plot{width:100%;height:60px;overflow:visible}
:focus-visible{outline:2px solid}a{color:inherit}.plot text{fill:var(--ink);font-size:12px}
.scroll{overflow-x:auto}table{width:1800px}.bar{fill:#246}.plot .on{fill:#fff}
</style></head><body><h1>One</h1><p id=word>Words <a href=#word>here</a>.</p>
<figure><svg class=plot><rect class=bar x=0 y=10 width=50% height=20 />
<text class=on x=10 y=24>12</text><text id=label x=60% y=24>label</text></svg>
<details><summary>Table</summary><div class=scroll tabindex=0 role=region aria-label=Numbers>
<table><tr><td>1<td>2</table></div></details></figure></body></html>
HTML

# check, what is replaced by what, what the check says then
my @broken = (
	[ 'document', '<h1>', '<iframe></iframe><h1>', 'iframe .*has no place' ],
	[ 'document', '<p id=word', '<p id=label', 'id label is there twice' ],
	[ 'document', 'href=#word', 'href=http://example.com', 'refers to http' ],
	[ 'document', '<h1>', '<h1 onclick=a>', 'has onclick' ],
	[ 'document', '<!DOCTYPE html>', '', 'no document type' ],
	[ 'document', '<summary>', '<summary tabindex=3>', 'out of turn' ],
	[ 'width', '<p id=word', '<p style="width:1300px" id=word', 'the page is' ],
	[ 'width', '<p id=word', '<p style="margin-left:-40px" id=word', 'lies from -20' ],
	[ 'labels', 'x=60%', 'x=100% dx=20', 'leaves its figure' ],
	[ 'labels', 'x=60%', 'x=18', 'covers' ],
	[ 'contrast', '--ink:#222', '--ink:#999', 'contrast of 2.8' ],
	[ 'contrast', '.on{fill:#fff', '.on{fill:#579', 'text on "12" has a contrast' ],
	[ 'contrast', '<p id=word', '<p style="opacity:.5" id=word', 'p #word .*is translucent' ],
	[ 'contrast', '.bar{fill:#246}', '.bar{fill:#246;fill-opacity:.2}', 'rect bar .*is translucent' ],
	[ 'contrast', '--ink:#ddd', '--ink:#555', 'contrast of', 'dark' ],
	[ 'scrollers', ' tabindex=0', '', 'not by keyboard' ],
	[ 'keyboard', 'outline:2px solid', 'outline:none', 'is not seen' ],
	[ 'keyboard', '<summary>', '<summary tabindex=-1>', 'instead of|is not reached' ],
	[ 'console', '<h1>', '<script>console.error("oh")</script><h1>', 'SEVERE .*oh' ],
	[ 'console', '<h1>', '<img src=missing.png><h1>', 'ERR_FILE_NOT_FOUND' ]);

for (@broken)
{
	my ($check, $old, $new, $expected, $scheme) = @$_;
	my $bad = $good =~ s/\Q$old\E/$new/r;
	$browser->view(1280, $scheme);
	for ([ $good, qr/^$/, 'a good page passes' ], [ $bad, qr/$expected/, $expected ])
	{
		show($_->[0]);
		$browser->check('openAll');
		like(complaints($check, $check eq 'width' ? 1280 : ()), $_->[1],
			"check of itself: $check: $_->[2]");
	}
}
$browser->view(1000);
show($good);
like(complaints('width', 390), qr/the window is 1000 wide/,
	'check of itself: a window of another width is noticed');

# On paper a table may reach into the margin, and dark mode is none.
$browser->view(PAPER, 'dark', 'print');
show($good =~ s/<p id=word/<p style="width:@{[PAPER]}px;text-align:right" id=word/r
	  =~ s/--bg:#111;--ink:#ddd/--bg:#fff;--ink:#222/r);
is(complaints('width', PAPER, MARGIN), '', 'check of itself: beyond the edge');
is(complaints('contrast'), '', 'check of itself: contrast beyond the edge');

# --------------------------------------------------------------------- the report

# Shows a page, and asserts all of the above about it: on screens, and on paper, where nothing can
# be scrolled.
sub page_is_fine
{
	my ($name, $html) = @_;
	for my $width (1280, 390)
	{
		for my $scheme (qw(light dark))
		{
			$browser->view($width, $scheme);
			show($html);
			for my $details (qw(closed open))
			{
				my $seen = "$name: $width pixels, $scheme, details $details";
				$browser->check('openAll') if $details eq 'open';
				is(complaints('width', $width), '', "$seen: all is inside");
				is(complaints($_), '', "$seen: $_") for qw(labels contrast scrollers);
			}
		}
		is(complaints($_), '', "$name: $width pixels: $_") for qw(document keyboard);
	}
	$browser->view(PAPER, 'dark', 'print');
	show($html);
	is(complaints('width', PAPER, MARGIN), '', "$name: printed: all is on the paper");
	is(complaints($_), '', "$name: printed: $_") for qw(labels contrast);
	like($browser->pdf, qr{/Type\s*/Page\b}, "$name: a PDF has pages");
	is(complaints('console'), '', "$name: the browser has nothing to complain of");
	return;
}

sub report { return sql($_[0], "SELECT sync_probe.report_html($_[1])") }

my $node = probe_cluster('report_html', conf => 'max_worker_processes = 16');
add_tablespace($node, 't_with_a_name_as_long_as_names_may_be_' . 'x' x 25);
my %prepared = prepared_filesystems('SP_TEST_FILESYSTEMS');
for my $name (sort keys %prepared)
{
	mkdir "$prepared{$name}/report_html" or die "could not create a directory on $name: $!";
	add_tablespace($node, "t_$name", "$prepared{$name}/report_html");
}
page_is_fine('no run', report($node, ''));

# Whatever a user can name.  A script that runs would change the title.
my $hostile = q{</title></svg></table>"'><script>document.title = 'run'</script>}
  . q{<img src=x onerror="document.title = 'run'">&lt;&amp; $& \\\\1 %s }
  . "\x{e2}\x{80}\x{ae}" . 'x' x 99;
my $tablespace = q{<script>document.title='run'</script>};
add_tablespace($node, qq{"$tablespace"});
sql($node, <<"SQL");
SELECT FROM unnest('{wal,wal,wal,pg_test_fsync,commit,stream,segments}'::text[]) AS s,
    sync_probe.probe(suite => s, duration => '1 s', label => \$label\$$hostile\$label\$);
SELECT sync_probe.import_pg_test_fsync(sync_probe.pg_test_fsync_report(run_id), label)
FROM sync_probe.runs WHERE suite = 'pg_test_fsync';
SELECT FROM sync_probe.probe_all(duration => '500 ms', label => 'all');
SELECT FROM sync_probe.probe(\$name\$$tablespace\$name\$, duration => '200 ms');
SELECT FROM unnest(ARRAY['pg_default', \$name\$$tablespace\$name\$]) AS t,
    sync_probe.pgbench(tablespace => t, clients => 1, threads => 1, transactions => 400, rows => 10,
                       label => \$label\$$hostile\$label\$);
SQL
let_runs_count($node);
# a session commits as long as commits are watched
my $session = session($node);
query($session, 'CREATE TABLE committed (i integer)');
start_query($session,
	'DO $$ BEGIN LOOP INSERT INTO committed VALUES (1); COMMIT; END LOOP; END $$');
$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM committed') or die 'no commit';
sql($node, "SELECT FROM sync_probe.commit_waits('1 s')");
end_probe($node, $session);

# A history of years, with a change in every fifth run and at last in each, and without statistics
# on it, as after a restore.
sql($node, <<'SQL');
SET session_replication_role = replica;
DO $do$ BEGIN
    EXECUTE (SELECT format($$
        INSERT INTO sync_probe.runs (%1$s)
        SELECT %1$s FROM (
            SELECT r.* FROM sync_probe.runs AS o, generate_series(1, 500) AS i,
                 jsonb_populate_record(o, jsonb_build_object('run_id', 1000 + i,
                     'started_at', o.started_at + i * interval '1 day',
                     'wal_sync_method', CASE mod(i / CASE WHEN i < 480 THEN 5 ELSE 1 END, 2)
                                        WHEN 0 THEN 'fsync' ELSE 'fdatasync' END)) AS r
            WHERE o.run_id = 3) AS r$$, string_agg(quote_ident(attname), ', '))
        FROM pg_attribute
        WHERE attrelid = 'sync_probe.runs'::regclass AND attnum > 0 AND attgenerated = '');
END $do$;
INSERT INTO sync_probe.measurements
SELECT r.* FROM sync_probe.measurements AS o, generate_series(1, 500) AS i,
     jsonb_populate_record(o, jsonb_build_object(
         'run_id', 1000 + i, 'p50_us', o.p50_us * (0.9 + 0.2 * random()))) AS r
WHERE o.run_id = 3;
SQL
my $everything = report($node, '');
page_is_fine('hostile names, and 500 runs', $everything);
isnt($browser->script('return document.title'), 'run', 'no script in a name has run');
like($browser->script('return document.body.textContent'), qr/<script>document\.title='run'/,
	'the name of a tablespace is shown as it is');
ok(grep({ $_ eq $browser->script("return document.querySelector('#$_')?.id ?? ''") } $_),
	"there is a section \"$_\"") for qw(waits trials stream segments history workloads);

my $without_paths = report($node, 'paths => false');
unlike($without_paths, qr/another server/, 'without paths runs are still those of this server');
like($without_paths, qr/Worst finding/, 'without paths there is a worst finding');
is($without_paths =~ /\Q${\$node->data_dir}\E/ ? 'shown' : 'left out', 'left out',
	'the data directory without paths');
show(report($node, '(SELECT array_agg(run_id) FROM sync_probe.runs)'));
like($browser->script("return document.querySelector('#tool').textContent"), qr/imported/,
	'an imported run says so');

# Numbers of other machines, and absurd ones
sql($node, <<'SQL');
UPDATE sync_probe.measurements SET p50_us = p50_us * 10 ^ (6 * random() - 4),
    p99_us = p99_us * 10 ^ (6 * random() - 2), ops_per_sec = ops_per_sec * 10 ^ (8 * random() - 4),
    relative_speed = relative_speed * 10 ^ (2 * random() - 1), durable = 'unknown',
    flushes_per_op = flushes_per_op * 10 ^ (4 * random() - 2), device_utilization = random();
UPDATE sync_probe.stream_seconds SET length_ms = length_ms * 10 ^ (6 * random() - 3),
    slowest_us = slowest_us * 10 ^ (6 * random() - 2);
UPDATE sync_probe.workload_results SET tps = tps * 10 ^ (6 * random() - 3),
    latency_p50_ms = latency_p50_ms * 10 ^ (6 * random() - 3);
UPDATE sync_probe.commit_wait_results SET sync_us = sync_us * 10 ^ (6 * random() - 3);
SQL
$everything = report($node, '');
for my $width (1280, 700, 390)
{
	$browser->view($width);
	show($everything);
	is(complaints('width', $width), '', "absurd numbers: $width pixels: all is inside");
	is(complaints('labels'), '', "absurd numbers: $width pixels: labels");
}

$browser->stop;
end_tests($node);
