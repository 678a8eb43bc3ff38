# The history survives pg_upgrade, by copy and by link, from every older server on this
# machine: those of Debian's packages that have headers, or SP_TEST_OLD_BINDIR.

use Cwd ();
use File::Find qw(find);
use SyncProbeRelease;
use SyncProbeTest;

sub answer_of (@command) { return (run_command([@command]))[0] }

sub major_of { return answer_of("$_[0]/pg_config", '--version') =~ /(\d+)/ ? $1 : 0 }

my $bindir = answer_of('pg_config', '--bindir');
my $major = major_of($bindir);

# pg_upgrade leads from 15 on to any later version; the extension must be built for both.
my @old = grep {
	-x "$_/postgres" && -x "$_/pg_config" && major_of($_) >= 15 && major_of($_) < $major
	  && -f answer_of("$_/pg_config", '--includedir-server') . '/postgres.h'
} $ENV{SP_TEST_OLD_BINDIR} // glob('/usr/lib/postgresql/*/bin');
plan skip_all => "no server older than $major with its headers on this machine" if !@old;

my @initdb = (extra => [ '--wal-segsize=1', '--data-checksums', '--encoding=UTF8', '--locale=C' ]);
my $conf = "fsync = on\nmax_wal_size = '64MB'\nmin_wal_size = '32MB'\n";

# Runs that say of what they are, in a cluster's own history.
my $own = 'SELECT count(label) FROM sync_probe.history()';

# A server that finds extensions along a path finds '$libdir/...' there for functions, but not for
# LOAD, with which pg_upgrade asks for it: the library gets its name without '$libdir/' then.
my $along_a_path = defined $ENV{TEMP_CONFIG}
  && slurp_file($ENV{TEMP_CONFIG}) =~ /^extension_control_path\b/m;

sub leave_out_libdir ($control)
{
	my $text = slurp_file($control);
	$text =~ s/^(module_pathname = ')\$libdir\//$1/m or die "no \$libdir in $control";
	write_file($control, $text);
	return;
}

# Builds the extension for another server, below a folder of its own.  Returns lines with
# which that server finds it, as script/common.sh does; none if it is told neither way.
sub conf_of_build ($node, $old)
{
	my $build = PostgreSQL::Test::Utils::tempdir();
	my @make = ('make', '-s', '-C', $build, "PG_CONFIG=$old/pg_config", 'with_llvm=no');
	delete local @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
	# a copy: this source may hold what was built for the other server
	$node->command_ok([ 'cp', '-R',
			map({ source_file($_) } qw(Makefile META.json pg_sync_probe.control src)), $build ],
		'the source is copied');
	find(sub { unlink if /\.(o|bc)$/ }, "$build/src");
	leave_out_libdir("$build/pg_sync_probe.control") if $along_a_path;
	$node->command_ok([ @make, 'all', 'install', "DESTDIR=$build/stage" ],
		'the extension is built for it');
	my $has = sub {
		return (run_command([ "$old/postgres", '-D', $node->data_dir, '-C', $_[0] ]))[1] !~ /FATAL/;
	};
	my $stage = "$build/stage";
	my $share = $stage . answer_of("$old/pg_config", '--sharedir');
	my $library = $stage . answer_of("$old/pg_config", '--pkglibdir');
	my $found = $has->('extension_destdir') ? "extension_destdir = '$stage'"
	  : $has->('extension_control_path') ? "extension_control_path = '$share:\$system'" : return;
	return "$found\ndynamic_library_path = '$library:\$libdir'\n";
}

# A stopped cluster of the old version with a history.
sub old_cluster ($old, $name)
{
	my $node = PostgreSQL::Test::Cluster->new($name, install_path => $old =~ s{/bin$}{}r);
	# it says where the new server finds the extension
	delete local $ENV{TEMP_CONFIG};
	$node->init(@initdb);
	my $build = conf_of_build($node, $old) or return;
	$node->append_conf('postgresql.conf', $conf . $build);
	$node->start;
	sql($node, 'CREATE EXTENSION pg_sync_probe');
	return ($node, record_history($node, 'postgres'));
}

sub upgrade_ok ($old, $from, $rows, $identifier, $mode)
{
	my $name = $from->name . "_$mode";
	my $to = PostgreSQL::Test::Cluster->new($name);
	$to->init(@initdb);
	$to->append_conf('postgresql.conf', $conf);
	my $here = Cwd::getcwd();
	chdir PostgreSQL::Test::Utils::tempdir() or die "could not enter a folder: $!";
	command_ok([ "$bindir/pg_upgrade", '-d', $from->data_dir, '-D', $to->data_dir, '-b', $old,
			'-B', $bindir, '-s', $to->host, '-p', $from->port, '-P', $to->port, "--$mode" ],
		"$name: pg_upgrade");
	chdir $here;
	$to->start;

	sql($to, 'CREATE DATABASE fresh');
	$to->safe_psql('fresh', 'CREATE EXTENSION pg_sync_probe');
	my ($fresh, $carried) = map { installed($to, $_) } qw(fresh postgres);
	s/'\$libdir\/pg_sync_probe'/'pg_sync_probe'/ for $along_a_path ? @$fresh : ();
	is(join("\n", differences($fresh, $carried)), '', "$name: the objects of a fresh install");
	has_history_ok($to, 'postgres', $name, $rows);

	# pg_upgrade made another cluster: doc/updating.md says how the runs become its own
	is(sql($to, $own), 0, "$name: the runs are of another cluster");
	sql($to, <<"SQL");
UPDATE sync_probe.runs SET system_identifier = c.system_identifier
FROM pg_control_system() AS c WHERE runs.system_identifier = $identifier
SQL
	is(sql($to, $own), 1, "$name: until that is told");
	$to->stop;
	log_ok($to);
	return;
}

for my $old (@old)
{
	my $name = 'from_' . major_of($old);
	my ($from, $rows) = old_cluster($old, $name);
	if (!$from)
	{
		SKIP: { skip "$old: this server finds extensions in its own folder only", 1 }
		next;
	}
	my $identifier = sql($from, 'SELECT system_identifier FROM pg_control_system()');
	is(sql($from, $own), 1, "$name: it had a history");
	$from->stop;
	upgrade_ok($old, $from, $rows, $identifier, $_) for qw(copy link);
}

done_testing();
