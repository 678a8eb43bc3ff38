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

sub show
{
	my ($name, $html) = @_;
	$browser->open_page(write_file("$directory/$name.html", $html));
	return;
}

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
</style></head><body><h1>One</h1><section id=part><h2>Two</h2>
<p id=word>Words <a href=#part>here</a>.</p>
<figure><svg class=plot role=img aria-labelledby="t d">
<title id=t>Bars</title><desc id=d>One bar</desc>
<rect class=bar x=0 y=10 width=50% height=20 /><text class=on x=10 y=24>12</text>
<text id=label x=60% y=24>label</text></svg>
<details><summary>Table</summary><div class=scroll tabindex=0 role=region aria-label=Numbers>
<table><caption>Bars</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td>2</table></div></details>
</figure></section></body></html>
HTML

# check, what is replaced by what, what the check says then
my @broken = (
	[ 'document', '<h1>', '<script>1</script><h1>', 'script .*has no place' ],
	[ 'document', '<p id=word', '<p id=t', 'id t is there twice' ],
	[ 'document', 'href=#part', 'href=#gone', '#gone, which is not there' ],
	[ 'document', 'href=#part', 'href=http://example.com', 'refers to http' ],
	[ 'document', '<h1>', '<h1 onclick=a>', 'has onclick' ],
	[ 'document', '<!DOCTYPE html>', '', 'no document type' ],
	[ 'document', ' lang=en', '', 'names no language' ],
	[ 'headings', '<h2>Two</h2>', '<h3>Two</h3>', 'comes after h1' ],
	[ 'figures', '<title id=t>Bars</title>', '<title id=t></title>', 'has no title' ],
	[ 'figures', '<desc id=d>One bar</desc>', '', 'has no desc' ],
	[ 'figures', '<td>1<td>2', '', 'has no table' ],
	[ 'figures', '<td>1<td>2', '<td>1', 'not as wide' ],
	[ 'figures', '<caption>Bars</caption>', '', 'no caption' ],
	[ 'width', '<p id=word', '<p style="width:1300px" id=word', 'the page is' ],
	[ 'width', '<p id=word', '<p style="margin-left:-40px" id=word', 'lies from -20' ],
	[ 'labels', 'x=60%', 'x=100% dx=20', 'leaves its figure' ],
	[ 'labels', 'x=60%', 'x=18', 'covers' ],
	[ 'contrast', '--ink:#222', '--ink:#999', 'contrast of 2.8' ],
	[ 'contrast', '.on{fill:#fff', '.on{fill:#579', 'text on "12" has a contrast' ],
	[ 'contrast', '<p id=word', '<p style="opacity:.5" id=word', 'p #word .*contrast' ],
	[ 'contrast', '.bar{fill:#246}', '.bar{fill:#246;fill-opacity:.2}', '"12" has a contrast' ],
	[ 'contrast in the dark', '--ink:#ddd', '--ink:#555', 'contrast of' ],
	[ 'scrollers', ' tabindex=0', '', 'not by keyboard' ],
	[ 'keyboard', 'outline:2px solid', 'outline:none', 'is not seen' ],
	[ 'keyboard', '<summary>', '<summary tabindex=-1>', 'instead of|is not reached' ],
	[ 'document', '<summary>', '<summary tabindex=3>', 'out of turn' ],
	[ 'console', '<h1>', '<script>console.error("oh")</script><h1>', 'SEVERE .*oh' ],
	[ 'console', '<h1>', '<script>undefined.x</script><h1>', 'SEVERE .*TypeError' ],
	[ 'console', '<h1>', '<img src=missing.png><h1>', 'ERR_FILE_NOT_FOUND' ]);

sub complaints
{
	my ($check) = @_;
	return $browser->check_keyboard if $check eq 'keyboard';
	return $browser->console if $check eq 'console';
	$browser->check('openAll');
	return $browser->check($check =~ s/ .*//r, $check eq 'width' ? 1280 : ());
}

for my $check (qw(document headings figures width labels contrast scrollers keyboard console),
	'contrast in the dark')
{
	$browser->view(1280, $check =~ /dark/ ? 'dark' : 'light');
	show('good', $good);
	is(join("\n", complaints($check)), '', "check of itself: a good page passes: $check");
	for (grep { $_->[0] eq $check } @broken)
	{
		my (undef, $old, $new, $expected) = @$_;
		my $bad = $good =~ s/\Q$old\E/$new/r;
		isnt($bad, $good, "check of itself: \"$old\" is replaced");
		show('bad', $bad);
		like(join("\n", complaints($check)), qr/$expected/, "check of itself: $check: $expected");
	}
	$browser->console;
}
$browser->view(1000);
show('good', $good);
like(join("\n", $browser->check('width', 390)), qr/the window is 1000 wide/,
	'check of itself: a window of another width is noticed');

# On paper a table may reach into the margin, and dark mode is none.
$browser->view(PAPER, 'dark', 'print');
show('margin', $good =~ s/<p id=word/<p style="width:@{[PAPER]}px;text-align:right" id=word/r
	  =~ s/--bg:#111;--ink:#ddd/--bg:#fff;--ink:#222/r);
is(join("\n", $browser->check('width', PAPER, MARGIN)), '', 'check of itself: beyond the edge');
is(join("\n", $browser->check('contrast')), '', 'check of itself: contrast beyond the edge');

# --------------------------------------------------------------------- the report

# Opens a page, and asserts all of the above about it.
sub page_is_fine
{
	my ($name, $html, @schemes) = @_;
	for my $width (1280, 390)
	{
		for my $scheme (@schemes ? @schemes : qw(light dark))
		{
			$browser->view($width, $scheme);
			show($name =~ s/\W+/_/gr, $html);
			for my $details (qw(closed open))
			{
				my $seen = "$name: $width pixels, $scheme, details $details";
				$browser->check('openAll') if $details eq 'open';
				is(join("\n", $browser->check('width', $width)), '', "$seen: all is inside");
				is(join("\n", $browser->check($_)), '', "$seen: $_") for qw(labels contrast scrollers);
			}
		}
		is(join("\n", $browser->check($_)), '', "$name: $width pixels: $_")
		  for qw(document headings figures);
		is(join("\n", $browser->check_keyboard), '', "$name: $width pixels: keyboard");
	}
	print_is_fine($name, $html);
	is(join("\n", $browser->console), '', "$name: the browser has nothing to complain of");
	return;
}

# On paper, where nothing can be scrolled.
sub print_is_fine
{
	my ($name, $html) = @_;
	$browser->view(PAPER, 'dark', 'print');
	show('print', $html);
	is(join("\n", $browser->check('width', PAPER, MARGIN)), '', "$name: printed: all is on the paper");
	is(join("\n", $browser->check($_)), '', "$name: printed: $_") for qw(labels contrast);
	like($browser->pdf, qr{/Type\s*/Page\b}, "$name: a PDF has pages");
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

# too short to count, which the page has to say
sql($node, "SELECT FROM sync_probe.probe(duration => '500 ms')");
page_is_fine('one run', report($node, ''));

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
my $everything = report($node, '');
page_is_fine('hostile names', $everything);
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
show('chosen', report($node, '(SELECT array_agg(run_id) FROM sync_probe.runs)'));
like($browser->script("return document.querySelector('#tool').textContent"), qr/imported/,
	'an imported run says so');

# A history of years, with a change in every fifth run, and without statistics on it, as after a
# restore.
sql($node, <<'SQL');
SET session_replication_role = replica;
CREATE TEMP TABLE r AS SELECT * FROM sync_probe.runs WHERE location = 'pg_wal' AND suite = 'wal'
    ORDER BY run_id DESC LIMIT 1;
CREATE TEMP TABLE m AS SELECT m.* FROM sync_probe.measurements AS m JOIN r USING (run_id);
ALTER TABLE r DROP COLUMN usable_for_advice;
DO $$
DECLARE
    columns text := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
                     WHERE attrelid = 'r'::regclass AND attnum > 0 AND NOT attisdropped);
BEGIN
    FOR i IN 1..500 LOOP
        UPDATE r SET run_id = 1000 + i, started_at = started_at + interval '1 day',
            finished_at = finished_at + interval '1 day',
            wal_sync_method = CASE WHEN i % 10 < 5 THEN 'fsync' ELSE 'fdatasync' END;
        UPDATE m SET run_id = 1000 + i, p50_us = p50_us * (0.9 + 0.2 * random());
        EXECUTE format('INSERT INTO sync_probe.runs (%1$s) SELECT %1$s FROM r', columns);
        INSERT INTO sync_probe.measurements SELECT * FROM m;
    END LOOP;
END $$;
SQL
my $long = report($node, '');
# its parts are those of the page before: they have been seen in the dark
page_is_fine('500 runs', $long, 'light');

$browser->stop;
end_tests($node);
