# The library is replaced by one of another release, as by an upgrade of the package, while a
# session has the earlier one loaded.  A background worker that starts then would share memory
# with a session of another release.  It ends at once, the session says what to do, and nothing
# is left.  What is under way goes on, and a setting is restored also by the other release.

use strict;
use warnings;

use File::Copy qw(copy);
use FindBin;
use lib $FindBin::RealBin;
use JSON::PP ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeRelease;
use SyncProbeTest;
use Test::More;

plan skip_all => 'processes are looked for in /proc' unless -e '/proc/self/maps';

my $node = probe_cluster('replaced', conf => 'restart_after_crash = on');
my $auto = $node->data_dir . '/postgresql.auto.conf';
my $trial = q{CALL sync_probe.trial('commit_delay', '{0,50}', slot => '1 s', duration => };

# ------------------------------------------------- a library that can be replaced

my $installed = loaded_library($node);
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($name) = $installed =~ m{([^/]+)$};
my $library = "$folder/$name.so";

copy("$installed.so", $library) or die "$library: $!";
# functions by their path, workers by their name
$node->safe_psql('postgres',
	"UPDATE pg_proc SET probin = '$folder/$name' WHERE probin LIKE '%/$name'");
$node->append_conf('postgresql.conf', "dynamic_library_path = '$folder:\$libdir'");
$node->reload;

my $release = JSON::PP->new->decode(slurp_file(source_file('META.json')))->{version};
# only its first digit is another: linkers let other strings share the end of this one
my $other = $release =~ s/^(\d)/($1 + 1) % 10/er;
my %content = ($release => slurp_file($library));
$content{$other} = $content{$release};
my $found = $content{$other} =~ s/\0\K\Q$release\E(?=\0)/$other/g;
is($found, 1, "the library holds its release, $release, in one place");
is(length $content{$other}, length $content{$release}, "another one is made, $other");

# As a package manager does: those who have loaded the file keep it.
sub install
{
	my ($which) = @_;
	open my $file, '>:raw', "$folder/new" or die "$folder/new: $!";
	print $file $content{$which} or die "$folder/new: $!";
	close $file or die "$folder/new: $!";
	rename "$folder/new", $library or die "$library: $!";
	return;
}

# A session that has loaded the library as it is now.
sub session_with_library
{
	my $session = verbose_session($node);
	query($session, 'SELECT sync_probe.bar(1)');
	like(slurp_file("/proc/$session->{pid}/maps"), qr/ \Q$library\E$/m,
		'a session loads the library');
	return $session;
}

# -------------------------------------------------------------- the old session

my $began = -s $node->logfile;

# How many workers have said that they do not fit.
sub refusals
{
	my ($of, $now) = @_;
	my $releases = quotemeta("its session has loaded release $of of pg_sync_probe,"
		  . " but the library is now release $now; the session must reconnect");
	my $count = () = slurp_file($node->logfile, $began) =~
	  /LOG:  background worker "pg_sync_probe .*" cannot work: $releases$/mg;
	return $count;
}

my $not_set_up = qr/could not set up workload "upsert": its background worker has ended/;
my $not_tried = qr/a background worker has ended before it showed "commit_delay"/;
my @calls = (
	[ 'pgbench()', workload_call('function', SMALL_RUN), $not_set_up ],
	[ 'run_workload()', workload_call('procedure', SMALL_RUN), $not_set_up ],
	[ 'suite commit', "SELECT count(*) FROM sync_probe.probe('pg_wal', 'commit', '1 s')",
		qr/a background worker of the commit suite has ended/ ],
	[ 'trial()', "$trial '4 s')", $not_tried ],
	[ 'trial() with a workload', "$trial '4 s', workload => 'upsert')", $not_tried ]);

my $old = session_with_library();
my $before = auto_settings($node);
install($other);
like(slurp_file("/proc/$old->{pid}/maps"), qr/ \Q$library\E \(deleted\)$/m,
	'the session keeps the earlier library');

my $refused = 0;
for my $call (@calls)
{
	my ($what, $sql, $message) = @$call;
	my ($out, $err) = query($old, $sql);

	like($err, qr/\A[^\n]*ERROR:  55000: $message$/m, "$what: fails");
	like($err, qr/^HINT:  If the package was upgraded after this session began, reconnect\. /m,
		"$what: says what to do");
	unlike($err, qr/WARNING|FATAL/, "$what: and nothing else");
	cmp_ok(refusals($release, $other), '>', $refused, "$what: the log has both releases");
	$refused = refusals($release, $other);
	nothing_left($node, $what);
	is(auto_settings($node), $before, "$what: the settings are as before");
}
like((query($old, "SELECT sum(ops) > 0 FROM sync_probe.probe(duration => '50 ms')"))[0],
	qr/^t$/m, 'a probe without workers works');

# ------------------------------------------------------------------ a new session

my $new = session_with_library();
for my $call (@calls)
{
	my ($what, $sql) = @$call;
	my ($out, $err) = query($new, $sql);

	unlike($err, qr/ERROR|WARNING|FATAL/, "$what: works in a session with the new library");
	isnt($out, '', "$what: and returns a row");
	nothing_left($node, "$what with the new library");
}
# seconds later: the watchdog would have been started again after one
is(refusals($release, $other), $refused, 'no worker that was refused is started again');
is(refusals($other, $release), 0, 'the new session has its own release');

# ------------------------------------------------ replaced while something is running

start_query($new,
	workload_call('function', "'upsert', clients => 1, rows => 10, duration => '3 s'"));
wait_running($node, $new, 1);
install($release);
{
	my ($out, $err) = finish_query($new);
	like($out, qr/^\d+$/m, 'a workload goes on when the library is replaced');
	is($err, '', 'and has nothing to say');
	nothing_left($node, 'a workload that goes on');
}

my $running = session_with_library();
start_query($running, "$trial '300 s')");
wait_for(sub { slurp_file($auto) =~ /pg_sync_probe\.trial_restores/ }) or die 'no value was tried';
my ($watchdog) = trial_watchdogs($node) or die 'the trial has no watchdog';
install($other);
my $offset = -s $node->logfile;
my @both = ($running->{pid}, $watchdog);
kill 'STOP', @both;
wait_for(sub { !grep { slurp_file("/proc/$_/stat") !~ /\) T/ } @both }) or die 'one goes on';
kill 'KILL', @both;
$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
ok(wait_for(sub { auto_settings($node) eq $before }),
	'after a crash the watchdog of another release restores the setting');
$node->wait_for_log(qr/LOG:  restored "commit_delay" after a trial that did not end by itself$/m,
	$offset);
nothing_left($node, 'a crash');
is(refusals($release, $other), $refused, 'and was not refused');

$_->{run}->kill_kill for $old, $new, $running;
$node->stop;
log_ok($node);
done_testing();
