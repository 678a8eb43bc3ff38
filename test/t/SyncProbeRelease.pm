# SyncProbeRelease.pm
#
# What tests of versions share: the install script that make has joined, a server that knows
# further versions of the extension, rows of every table, and the comparison of what two
# databases have installed.

package SyncProbeRelease;

use Exporter 'import';
use FindBin;
use File::Path qw(make_path);
use SyncProbeTest;

our @EXPORT = qw(source_file default_version kept_versions joined_script
  loaded_library offer_versions record_history history_of works_with_history_ok installed
  differences);

my $root = "$FindBin::RealBin/../..";

sub source_file { return "$root/$_[0]" }

sub default_version
{
	my ($version) = slurp_file("$root/pg_sync_probe.control") =~ /^default_version = '(.*)'$/m
	  or die "no default_version in pg_sync_probe.control";
	return $version;
}

# Those whose install scripts are kept, with the current one if it is released.
sub kept_versions { return map { /--(.*)\.sql$/ } glob("$root/src/sql/releases/*.sql") }

sub pg_config
{
	my ($what) = @_;
	chomp(my $answer = qx(pg_config --$what));
	die "pg_config --$what failed" if $? != 0;
	return $answer;
}

# From the folder of the build, or as it was installed.
sub joined_script
{
	my $name = 'pg_sync_probe--' . default_version() . '.sql';
	my @places = map { "$_/$name" } build_directory(), pg_config('sharedir') . '/extension';
	my ($found) = grep { -e } @places or die "no install script: neither @places";
	return slurp_file($found);
}

# ---------------------------------------------------- a server with further versions

# The library that a session of the server has loaded, without its suffix.
sub loaded_library
{
	my ($node) = @_;
	my $session = session($node);
	query($session, 'SELECT sync_probe_internal.this_server()');
	my ($library) = slurp_file("/proc/$session->{pid}/maps") =~ m{ (/\S*/pg_sync_probe)\.so$}m
	  or die "the session has not loaded the library";
	$session->quit;
	return $library;
}

sub has_setting { return ($_[0]->psql('postgres', "SHOW $_[1]"))[0] == 0 }

my @written;
END { unlink @written }

# Lets a server find these files of an extension (name => text), besides those that it has.
# Debian's servers up to 17 look below extension_destdir, later ones along a path; others only
# in their own folder.  Returns whether that could be done.
sub offer_versions
{
	my ($node, %files) = @_;
	my $own = pg_config('sharedir') . '/extension';
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my ($target, $setting) =
		has_setting($node, 'extension_destdir') ? ("$folder$own", "extension_destdir = '$folder'")
	  : has_setting($node, 'extension_control_path')
	  ? ("$folder/extension", "extension_control_path = '$folder:\$system'") : ($own, undef);

	if ($setting)
	{
		# the library is where it was before
		my $library = loaded_library($node);
		my $control = slurp_file(source_file('pg_sync_probe.control'));
		$control =~ s/^module_pathname = .*$/module_pathname = '$library'/m or die $control;
		make_path($target);
		$files{'pg_sync_probe.control'} = $control;
		$files{ 'pg_sync_probe--' . default_version() . '.sql' } = joined_script();
		$node->append_conf('postgresql.conf', $setting);
		$node->reload;
	}
	elsif (!-w $target)
	{
		return 0;
	}
	for my $name (sort keys %files)
	{
		push @written, "$target/$name" unless $setting;
		append_to_file("$target/$name", $files{$name});
	}
	return 1;
}

# ----------------------------------------------------------------- rows of every table

my %order = (
	runs => 'run_id',
	measurements => 'run_id, ordinal',
	samples => 'run_id, ordinal',
	stream_seconds => 'run_id, ordinal, second',
	commit_wait_results => 'result_id',
	workload_results => 'result_id',
	workloads => 'workload, builtin');

sub record_history
{
	my ($node, $database) = @_;
	$node->safe_psql($database, <<'SQL');
SET client_min_messages = warning;
SELECT FROM sync_probe.commit_waits('100 ms');
SELECT FROM sync_probe.probe(duration => '100 ms', label => E'it''s "kept" \\ \t é');
SELECT FROM sync_probe.probe('pg_wal', 'pg_test_fsync', '100 ms');
SELECT FROM sync_probe.probe('pg_wal', 'stream', '100 ms');
SELECT FROM sync_probe.probe('pg_wal', 'commit', '1 s');
SELECT sync_probe.import_json(sync_probe.export_json(ARRAY[1::bigint])::text);
SELECT FROM sync_probe.import_pg_test_fsync(sync_probe.pg_test_fsync_report(2));
DELETE FROM sync_probe.runs WHERE run_id = (SELECT max(run_id) FROM sync_probe.runs);
INSERT INTO sync_probe.workloads (workload, script)
    VALUES ('my "own"', E'\\set i 1\nSELECT :i;'), ('queue', 'SELECT 2;');
SELECT FROM sync_probe.pgbench('my "own"', clients => 1, transactions => 5, label => 'kept');
SQL
	return;
}

# The rows of every table as text, a hash; builtin workloads are the extension's.  Columns
# that a later version has are left out.
sub history_of
{
	my ($node, $database, @later) = @_;
	my $without = join '', map { " - '$_'" } @later;
	my %rows;
	for my $table (sort keys %order)
	{
		my $where = $table eq 'workloads' ? 'WHERE NOT builtin' : '';
		my $schema = $table eq 'samples' ? 'sync_probe_internal' : 'sync_probe';
		$rows{$table} = $node->safe_psql($database,
			"SELECT to_jsonb(t)$without FROM $schema.$table AS t $where"
			  . " ORDER BY $order{$table}");
	}
	return %rows;
}

# A database with the rows of another goes on: further runs, a report of all.
sub works_with_history_ok
{
	my ($node, $database, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($node->safe_psql($database, <<'SQL'), "t\nSELECT 2;\nt", "$name: it works");
SET client_min_messages = warning;
SELECT p.run_id > (SELECT max(run_id) FROM sync_probe.runs)
FROM sync_probe.probe(duration => '20 ms') AS p LIMIT 1;
SELECT statements -> 0 ->> 'statement'
FROM sync_probe.pgbench('queue', clients => 1, transactions => 1);
SELECT length(sync_probe.report_html()) > 10000;
SQL
	return;
}

# ------------------------------------------------------------- what is installed

# What the extension has in a database, one text for each: its objects as pg_dump shows the members
# of an extension where it prepares an upgrade, its tables for pg_dump, and its own rows.
sub installed
{
	my ($node, $database) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/members';
	$node->command_ok([ 'pg_dump', '--binary-upgrade', '--schema-only', '-f', $file, $database ],
		"$database: pg_dump of the members");
	my $dump = slurp_file($file);
	# OIDs, transactions and keys say nothing of the objects; SET default_... stands before the
	# first table, in the entry of whatever comes before it
	$dump =~ s/^SELECT pg_catalog\.binary_upgrade_(?:set_next|create_empty_extension).*\n//mg;
	$dump =~ s/^UPDATE pg_catalog\.pg_class\nSET relfrozenxid = .*\nWHERE .*\n//mg;
	$dump =~ s/^(?:-- For binary upgrade, |\\(?:un)?restrict |SET default_).*\n//mg;
	my @members = grep { /\A-- Name: (?!.*; Type: SEQUENCE SET;)/ }
	  map { s/^(?:--)?\n//mgr } split /^--\n(?=-- .*Name: )/m, $dump;
	die "pg_dump shows no members" if @members < 100;
	return [ @members, split /\n/, $node->safe_psql($database, <<'SQL') ];
SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'pg_sync_probe'
UNION ALL SELECT format('rows of pg_dump %s: %s', t::regclass, c)
FROM pg_extension, unnest(extconfig, extcondition) AS e (t, c) WHERE extname = 'pg_sync_probe'
UNION ALL SELECT format('workload %s: %s', workload, to_jsonb(w))
FROM sync_probe.workloads AS w WHERE builtin
SQL
}

# The first line of each text that only one of two lists has, with a sign for which.
sub differences
{
	my ($one, $other) = @_;
	my %texts;
	$texts{$_}-- for @$one;
	$texts{$_}++ for @$other;
	return sort map { ($texts{$_} < 0 ? '- ' : '+ ') . (split /\n/, $_)[0] =~ s/^-- Name: //r }
	  grep { $texts{$_} } keys %texts;
}

1;
