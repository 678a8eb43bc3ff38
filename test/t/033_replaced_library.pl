# The library is replaced by one of another release, as by an upgrade of the package, while a
# session has the earlier one loaded.  A background worker that starts then would share memory
# with a session of another release.  It ends at once, the session says what to do, and nothing
# is left.  A setting is restored also by the other release.

use SyncProbeTest;

my $node = probe_cluster('replaced', conf => 'restart_after_crash = on');
my $trial = q{CALL sync_probe.trial('commit_delay', '{0,50}', slot => '1 s', duration => };

# ------------------------------------------------- a library that can be replaced

my $folder = PostgreSQL::Test::Utils::tempdir();
my $library = "$folder/pg_sync_probe.so";
my $release = sql($node, 'SELECT library FROM sync_probe.version()');
# only its first digit is another: linkers let other strings share the end of this one
my $other = $release =~ s/^(\d)/($1 + 1) % 10/er;
my %content = ($release => slurp_file(build_directory() . '/pg_sync_probe.so'));
$content{$other} = $content{$release};
is($content{$other} =~ s/\0\K\Q$release\E(?=\0)/$other/g, 1,
	"the library holds its release, $release, in one place");

# As a package manager does: those who have loaded the file keep it.
sub install { rename write_file("$folder/new", $content{ $_[0] }), $library or die "$library: $!" }

install($release);
# functions by their path, workers by their name
sql($node,
	"UPDATE pg_proc SET probin = '$folder/pg_sync_probe' WHERE probin LIKE '%/pg_sync_probe'");
$node->append_conf('postgresql.conf', "dynamic_library_path = '$folder:\$libdir'");
$node->reload;

# A session that has loaded the library as it is now.
sub session_with_library
{
	my $session = verbose_session($node);
	query($session, 'SELECT sync_probe_internal.this_server()');
	return $session;
}

# -------------------------------------------------------------- the old session

my $began = -s $node->logfile;

# Workers that have said that they do not fit.
sub refusals
{
	my $releases = quotemeta("its session has loaded another release of pg_sync_probe,"
		  . " but the library is now release $other; the session must reconnect");
	my $count = () = slurp_file($node->logfile, $began) =~
	  /LOG:  background worker "pg_sync_probe .*" cannot work: $releases$/mg;
	return $count;
}

my $old = session_with_library();
my $before = auto_settings($node);
install($other);

my $refused = 0;
for (
	[ 'suite commit', "SELECT FROM sync_probe.probe('pg_wal', 'commit', '1 s')",
		qr/a background worker has ended before it showed "wal_sync_method"/ ],
	[ 'trial()', "$trial '4 s')",
		qr/a background worker has ended before it showed "commit_delay"/ ])
{
	my ($what, $sql, $message) = @$_;
	my ($out, $err) = query($old, $sql);

	like($err, qr/\A[^\n]*ERROR:  55000: $message$/m, "$what: fails");
	like($err, qr/^HINT:  If the package was upgraded after this session began, reconnect\. /m,
		"$what: says what to do");
	unlike($err, qr/WARNING|FATAL/, "$what: and nothing else");
	cmp_ok(refusals(), '>', $refused, "$what: the log says so");
	$refused = refusals();
	restored_ok($node, $what, $before);
}
like((query($old, "SELECT sum(ops) > 0 FROM sync_probe.probe(duration => '50 ms')"))[0],
	qr/^t$/m, 'a probe without workers works');

# -------------------------------------------- a new session, and replaced while it runs

my $new = session_with_library();
my $version = 'SELECT library FROM sync_probe.version()';
is(join(' ', map { (query($_, $version))[0] =~ s/\s+//gr } $old, $new), "$release $other",
	'version() is that of the library which the session has loaded');
unlike((query($new, "$trial '4 s')"))[1], qr/ERROR|WARNING|FATAL/,
	'in a session with the new library it works');
# seconds later: the watchdog would have been started again after one
is(refusals(), $refused, 'no worker that was refused is started again');
install($release);
my $running = start_trial($node, "$trial '300 s')", '(0|50)');
my $offset = -s $node->logfile;
my @both = @{$running}{qw(pid watchdog)};
kill 'STOP', @both;
wait_for(sub { !grep { slurp_file("/proc/$_/stat") !~ /\) T/ } @both }) or die 'one goes on';
install($other);
kill 'KILL', @both;
$node->wait_for_log(qr/database system is ready to accept connections/, $offset);
restored_ok($node, 'after a crash, by the watchdog of another release', $before);
$node->wait_for_log(
	qr/LOG:  corrected postgresql\.auto\.conf after a trial of "commit_delay"/, $offset);
# but the session may have asked for another process, just before it was stopped
unlike(slurp_file($node->logfile, $offset), qr/"pg_sync_probe trial" cannot work/,
	'and was not refused');

$_->{run}->kill_kill for $old, $new, $running;
end_tests($node);
