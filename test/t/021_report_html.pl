# The page of report_html() in a real browser: what it complains of, what does not fit, what
# cannot be read, seen, reached by keyboard or printed.

use SyncProbeBrowser;
use SyncProbeTest;

# Width of A4 between the margins of the page, and how wide these margins are, in pixels.
use constant { PAPER => 688, MARGIN => 40 };

my $browser = SyncProbeBrowser->start
  or plan skip_all => 'needs chromium and chromedriver (Debian: chromium-driver)';
END { undef $browser }
my $directory = PostgreSQL::Test::Utils::tempdir();

sub show { $browser->open_page(write_file("$directory/page.html", $_[0])) }

# What a check complains of, in one text.
sub complaints { return join "\n", $browser->check(@_) }

# --------------------------------------------- a bad page, of which each check complains

$browser->view(1000, 'dark');
show(<<'HTML');
<!DOCTYPE html><title>bad</title><meta name=color-scheme content="light dark"><style>
body{background:#fff;color:#222}@media (prefers-color-scheme:dark){body{color:#999}}
svg{width:100%;overflow:visible}a{outline:none}.scroll{width:29px;overflow-x:auto}</style>
<p style="margin-left:-40px">Words <a href=#x>here</a><p style="opacity:.5;width:1300px">pale
<figure><svg><rect fill=#246 width=200 height=20 /><text fill=#579 x=10 y=14>on a bar</text>
<text x=60 y=14>over it</text><text x=100% dx=20 y=50>outside</text></svg></figure>
<div class=scroll><table><tr><td>a_word_that_does_not_break</table></div>
<summary tabindex=3>more</summary><img src=missing.png>
HTML
for (
	[ 'width', 'the page is', ': -32' ], [ 'labels', 'leaves its figure', 'covers' ],
	[ 'contrast', 'p "Words.*: contrast 2\.', 'text "on a bar": contrast', 'translucent' ],
	[ 'keyboard', 'a "here" .*not seen', 'div scroll .*not by keyboard', 'out of turn' ],
	[ 'console', 'ERR_FILE_NOT_FOUND' ])
{
	my ($check, @says) = @$_;
	my $said = $check eq 'console' ? join "\n", $browser->console
	  : complaints($check, $check eq 'width' ? 1000 : ());
	like($said, qr/$_/, "a bad page: $check") for @says;
}

# --------------------------------------------------------------------- the report

# Shows a page, and asserts all of the above about it: on a wide and a narrow screen, one light and
# one dark, and on paper, where nothing can be scrolled.
sub page_is_fine ($name, $html)
{
	for ([ 1280, 'light' ], [ 390, 'dark' ])
	{
		my ($width, $scheme) = @$_;
		$browser->view($width, $scheme);
		show($html =~ s/<details/<details open/gr);
		is(complaints('width', $width), '', "$name: $width pixels: all is inside");
		is(complaints($_), '', "$name: $width pixels: $_") for qw(labels contrast keyboard);
	}
	$browser->view(PAPER, 'dark', 'print');
	show($html);
	is(complaints('width', PAPER, MARGIN), '', "$name: printed: all is on the paper");
	is(complaints($_), '', "$name: printed: $_") for qw(labels contrast);
	is(join("\n", $browser->console), '', "$name: the browser has nothing to complain of");
	return;
}

my $report = 'SELECT sync_probe.report_html()';
my $node = probe_cluster('report_html', conf => 'max_worker_processes = 16');
add_tablespace($node, 't_with_a_name_as_long_as_names_may_be_' . 'x' x 25);
page_is_fine('no run', sql($node, $report));

# Whatever a user can name.  A script that runs would change the title.
my $hostile = q{</title></svg></table>"'><script>document.title = 'run'</script>}
  . q{<img src=x onerror="document.title = 'run'">&lt;&amp; $& \\\\1 %s }
  . "\x{e2}\x{80}\x{ae}" . 'x' x 99;
my $tablespace = q{<script>document.title='run'</script>};
add_tablespace($node, qq{"$tablespace"});
sql($node, <<"SQL");
SELECT FROM unnest('{wal,wal,wal,pg_test_fsync,commit,stream,segments}'::text[]) AS s,
    sync_probe.probe(suite => s, duration => '1 s', label => \$label\$$hostile\$label\$);
SELECT FROM sync_probe.probe_all(duration => '500 ms', label => 'all');
SELECT FROM unnest(ARRAY['pg_default', \$name\$$tablespace\$name\$]) AS t,
    sync_probe.pgbench(tablespace => t, clients => 1, threads => 1, transactions => 400, rows => 10,
                       label => \$label\$$hostile\$label\$);
SQL
my $session = start_commits($node);
sql($node, "SELECT FROM sync_probe.commit_waits('1 s')");
end_probe($node, $session);

# A history of years, with a change in every fifth run and at last in each, and without statistics
# on it, as after a restore.
sql($node, <<'SQL');
SELECT count(*)
FROM sync_probe.export_json('{3}') AS d, sync_probe.import_json(jsonb_set(d, '{runs}', (
    SELECT jsonb_agg(d #> '{runs,0}' || jsonb_build_object('samples', '[]'::jsonb,
        'started_at', now() + i * interval '1 day',
        'wal_sync_method', CASE mod(i / CASE WHEN i < 480 THEN 5 ELSE 1 END, 2)
                           WHEN 0 THEN 'fsync' ELSE 'fdatasync' END))
    FROM generate_series(1, 500) AS i))::text);
UPDATE sync_probe.measurements AS m SET p50_us = p50_us * (0.9 + 0.2 * random())
FROM sync_probe.runs AS r WHERE r.run_id = m.run_id AND r.imported_at IS NOT NULL;
UPDATE sync_probe.runs SET imported_at = NULL WHERE imported_at IS NOT NULL;
SQL
let_runs_count($node);
page_is_fine('hostile names, and 500 runs', my $everything = sql($node, $report));
isnt($browser->script('return document.title'), 'run', 'no script in a name has run');
like($browser->script('return document.body.textContent'), qr/<script>document\.title='run'/,
	'the name of a tablespace is shown as it is');
like($everything, qr/<section id=$_ /, "there is a section \"$_\"")
  for qw(waits trials stream segments history workloads);

# Numbers of other machines, and absurd ones
sql($node, <<'SQL');
UPDATE sync_probe.measurements SET p50_us = p50_us * 10 ^ (6 * random() - 4),
    p99_us = p99_us * 10 ^ (6 * random() - 2), ops_per_sec = ops_per_sec * 10 ^ (8 * random() - 4),
    relative_speed = relative_speed * 10 ^ (2 * random() - 1), durable = 'unknown',
    flushes_per_op = flushes_per_op * 10 ^ (4 * random() - 2);
UPDATE sync_probe.runs AS r SET storage = r.storage || jsonb_build_object('device_utilization', (
    SELECT jsonb_object_agg(m.ordinal, random())
    FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id))
WHERE EXISTS (SELECT FROM sync_probe.measurements AS m WHERE m.run_id = r.run_id);
UPDATE sync_probe_internal.stream_seconds SET length_ms = length_ms * 10 ^ (6 * random() - 3),
    slowest_us = slowest_us * 10 ^ (6 * random() - 2);
UPDATE sync_probe.workload_results SET tps = tps * 10 ^ (6 * random() - 3),
    latency_p50_ms = latency_p50_ms * 10 ^ (6 * random() - 3);
UPDATE sync_probe.commit_wait_results SET sync_us = sync_us * 10 ^ (6 * random() - 3);
SQL
page_is_fine('absurd numbers', sql($node, $report));

end_tests($node);
