# Every statement in README.md and doc/*.md is executed: those of ```sql blocks, block
# by block as a psql script, and those in inline code that begin like a statement.  The
# reference is what its script prints, links lead somewhere, and each finding and each suite is
# described.

use Encode qw(decode);
use File::Basename qw(dirname);
use List::Util qw(max min);
use SyncProbeTest;

my $root = source_directory();
my @files = ("$root/README.md", glob("$root/doc/*.md"));

# What the examples take for granted: tablespaces, roles and databases with these
# names, and a test framework; and runs that end before the reader has lost patience.
# Jobs of pg_cron do not begin, see 036_every_day.pl.  No autovacuum: the commit suite may take its
# commits for the server's load.
my $cron = cron_conf();
my $node = probe_cluster('documentation', allows_streaming => 1,
	conf => "max_connections = 60\nmax_worker_processes = 16\nlog_statement = none\n"
	  . "autovacuum = off\n" . ($cron && "${cron}cron.max_running_jobs = 0"));
add_tablespace($node, $_) for qw(fast_ssd x);
sql($node, <<'SQL');
CREATE ROLE role LOGIN;
CREATE DATABASE x;
CREATE EXTENSION IF NOT EXISTS pgtap;
SQL

# --- the reference

my ($reference, $wrong_reference) = run_script(slurp_file("$root/script/reference.sql"));
is($wrong_reference, '', 'script/reference.sql runs');
my @made = split /\n/, $reference;
my @kept = split /\n/, slurp_file("$root/doc/reference.md");
my ($differs) = grep { ($made[$_] // '') ne ($kept[$_] // '') } 0 .. max($#made, $#kept);
is(defined $differs ? $differs + 1 : 0, 0,
	'doc/reference.md is what script/reference writes (the line that differs)');

# --- pages

# A link's target, relative to the folder of its page.  Anchors are headings in lower case, without
# punctuation.
sub leads_somewhere ($page, $link)
{
	my ($file, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
	my $target = $file eq '' ? $page : dirname($page) . "/$file";
	return -e $target if $anchor eq '' || !-e $target;
	return grep { lc(s/[^\w -]//gr) =~ s/ /-/gr eq $anchor } slurp_file($target) =~ /^#+ (.*)$/mg;
}

for my $page (@files, "$root/CONTRIBUTING.md")
{
	my $text = slurp_file($page) =~ s/^```.*?^```//msgr;
	my @links = grep { !/^https?:/ } $text =~ /\]\(([^)\s]+)\)/g;
	my $name = $page =~ s{^\Q$root\E/}{}r;
	is(join(' ', grep { !leads_somewhere($page, $_) } @links), '', "$name: links lead somewhere");
	is(join("\n", grep { length > 100 } split /\n/, decode('UTF-8', slurp_file($page))), '',
		"$name: lines have at most 100 characters");
}

# Codes are literals behind a severity.
my %found;
for my $source (glob("$root/src/sql/findings*.sql"), "$root/src/sql/segments.sql")
{
	$found{$_} = 1
		for slurp_file($source) =~
		  /'(?:error|warning|info)'(?: AS \w+| END)?, '(?!error|warning|info)(\w+)'/g;
}
my ($findings) = slurp_file("$root/doc/durability-and-findings.md") =~ /^## Findings$(.*?)^## /ms;
is(join(' ', sort $findings =~ /^- `(\w+)`:/mg), join(' ', sort keys %found),
	'each finding is described');
my $tests = join '', map { slurp_file($_) } glob("$root/test/tap/*.sql"), glob("$root/test/t/*.pl");
is(join(' ', grep { $tests !~ /\b$_\b/ } sort keys %found), '', 'each finding has a scenario');

# The extension itself names its suites, where it refuses another.
my ($valid) = messages($node, "SELECT FROM sync_probe.probe(suite => '')")
  =~ /^HINT:  Valid suites are (".*")\.$/m;
my @suites = sort(($valid // '') =~ /"(\w+)"/g);
isnt(scalar(@suites), 0, 'the extension names its suites');
my @described = slurp_file("$root/doc/probe.md") =~ /^## Suite (\w+)$/mg;
is(join(' ', sort @described), "@suites", 'doc/probe.md has a section for each suite');

# --- examples

# The same functions with a shorter default of duration.
for my $name (qw(probe probe_all commit_waits pgbench run_workload trial power_test))
{
	my $seconds = $name =~ /probe/ ? 0.4 : 1;
	my $definition = sql($node, "SELECT pg_get_functiondef('sync_probe.$name'::regproc)");
	$definition =~ s/(duration interval DEFAULT )(?:'[^']*'|NULL)/$1'$seconds s'/
	  or die "no duration in $definition";
	sql($node, $definition);
}

# A psql script, executed in an empty directory: what psql takes for the name of a file
# would be written there.  Calls are shorter, but for what needs slots.  Returns its output, and
# what went wrong.
sub run_script ($script)
{
	my $seconds = $script =~ /trial\(|'segments'|'commit'/ ? 4 : 1;
	$script =~ s/duration => '\K(\d+)(?= s')/min($1, $seconds)/ge;
	$script =~ s/commit_waits\('\K\d+(?= s')/1/g;
	my $directory = PostgreSQL::Test::Utils::tempdir();
	my ($out, $err) = ('', '');
	my $succeeds = IPC::Run::run([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-d',
			$node->connstr('postgres') ], '<', \$script, '>', \$out, '2>', \$err,
		init => sub { chdir $directory or die "could not enter $directory: $!" });
	return ($out, join "\n", $succeeds ? () : $err, map { "written: $_" } glob("$directory/*"));
}

# The ```sql blocks of a text, each with its first line's number, and the table shown below it.
sub sql_blocks ($text)
{
	my @blocks;
	push @blocks, [ 2 + (substr($text, 0, $-[0]) =~ tr/\n//), $1, $2 ]
	  while $text =~ /^```sql\n(.*?)^```\n(?:\n```\n([^`]*^\(\d+ rows\)\n)```\n)?/msg;
	return @blocks;
}

# Inline code that is a statement: a word of SQL, and a blank behind it.
my $begins = qr/(?:SELECT|GRANT|REVOKE|ALTER|CREATE|CALL|INSERT|UPDATE|DELETE|SET|RESET|LOAD
	|DROP|COMMENT)[ ]/x;

sub inline_statements ($text)
{
	my @found;
	$text =~ s/^```.*?^```$/$& =~ s{.}{}gr/mseg;
	push @found, [ 1 + (substr($text, 0, $-[0]) =~ tr/\n//), $1 ]
	  while $text =~ /`($begins[^`\n]*)`/g;
	return @found;
}

for my $file (@files)
{
	my $name = $file =~ s{^\Q$root\E/}{}r;
	my $text = slurp_file($file);
	my @blocks = sql_blocks($text);
	my $available = 'SELECT count(*) FROM pg_available_extensions WHERE name =';
	my ($absent) = grep { !sql($node, "$available '$_'") } $text =~ /CREATE EXTENSION (\w+);/g;
	Test::More->builder->skip("$name: $absent is not installed"), next if $absent;
	my $fences = () = $text =~ /^```sql\b/mg;
	is(scalar(@blocks), $fences, "$name: every block of SQL is found");
	for (@blocks)
	{
		my ($line, $script, $shown) = @$_;
		my ($out, $wrong) = run_script($script);
		is($wrong, '', "$name:$line: runs");
		isnt($out, '', "$name:$line: prints what it finds");
		unlike($out, qr/^\s*not ok/m, "$name:$line: passes");
		like($out =~ s/ +$//mgr, qr/\Q$shown\E/, "$name:$line: prints what is shown") if $shown;
		unlike($script, qr/sync_probe_internal/, "$name:$line: needs nothing internal");
	}
	for (inline_statements($text))
	{
		my ($line, $statement) = @$_;
		is((run_script("$statement;\n"))[1], '', "$name:$line: $statement");
	}
	is(leftovers($node), '', "$name: nothing is left");
}

end_tests($node);
