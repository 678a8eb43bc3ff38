# A program run by a backend: what it is given, what of it is read, and that it
# never outlives its purpose, whatever ends the statement, the session or the
# server.  Then the tools of ZFS, as small scripts that answer as these do, or
# fail as these may.
#
# src/common/child_process.c and src/storage/zfs_tools.c are called through functions of
# the test module in test/modules/child_process.

use FindBin;
use lib $FindBin::RealBin;
use File::Glob qw(bsd_glob);
use JSON::PP;
use SyncProbeTest;

plan skip_all => 'processes are only looked at on Linux' if $^O ne 'linux';

my $node = probe_cluster('child_process', conf => 'restart_after_crash = on');
my $root = "$FindBin::RealBin/../..";
my $temporary = PostgreSQL::Test::Utils::tempdir();
sql($node, "\\set library ${\build_directory()}/test/modules/child_process/child_process_test\n"
	  . slurp_file("$root/test/modules/child_process/child_process_test.sql"));

# --------------------------------------------------------------------- helpers

# One backend for nearly everything: it must survive, and lose nothing.
my $session = verbose_session($node);

sub quoted
{
	my ($string) = @_;
	return "\$sp\$$string\$sp\$";
}

# The arguments of run(): a script for the shell, or path and argv.
sub arguments
{
	my (%of) = @_;
	my $path = $of{path} // '/bin/sh';
	my @argv = $of{sh} ? ('sh', '-c', $of{sh}) : @{ $of{argv} // ['x'] };
	return join ', ', quoted($path), 'ARRAY[' . join(', ', map { quoted($_) } @argv) . ']',
	  $of{timeout_ms} // 300000;
}

# A row as a hash; messages as the key "error".
sub row_of
{
	my ($call) = @_;
	my ($out, $err) = query($session, "SELECT row_to_json(r) FROM $call r");
	return { error => $err } if $err ne '' || $out eq '';
	my $row = decode_json($out);
	return { map { $_ => JSON::PP::is_bool($row->{$_}) ? 0 + $row->{$_} : $row->{$_} } keys %$row };
}

# Children of a process, the dead ones not yet waited for included.
sub children
{
	my ($parent) = @_;
	my @found;
	for (bsd_glob('/proc/[0-9]*/stat'))
	{
		open my $stat, '<', $_ or next;
		my $line = <$stat> // '';
		push @found, "$1 $2 $3" if $line =~ /^(\d+) \((.*)\) (\S) $parent /;
	}
	return join "\n", @found;
}

# Descriptors that a run may leave, which a backend has a fixed number of.
sub held
{
	my ($pid) = @_;
	my @links = map { readlink($_) // '' } bsd_glob("/proc/$pid/fd/*");
	die "cannot see the descriptors of process $pid" unless @links;
	return scalar grep { m{^pipe:|_sync_probe\.|^/dev/null$} } @links;
}

row_of("run(${\ arguments(sh => 'exit 0')})");
my $usual_held = held($session->{pid});

sub no_trace_ok
{
	my ($name, $of, $usual) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$of //= $session;
	is(children($of->{pid}), '', "$name: no child is left");
	is(held($of->{pid}), $usual // $usual_held, "$name: no descriptor is left");
	return;
}

sub write_script
{
	my ($file, $content, $mode) = @_;
	chmod $mode // 0755, write_file($file, $content);
	return $file;
}

# Waits for a script to have written its pid, and returns that.
sub pid_in
{
	my ($file) = @_;
	wait_for(sub { -s $file && slurp_file($file) =~ /\n/ }) or die "$file was never written";
	chomp(my $pid = slurp_file($file));
	unlink $file;
	return $pid;
}

# --------------------------------------------- what it is given, how it ended

my $pid_file = "$temporary/pid";
write_script("$temporary/not_executable", "#!/bin/sh\n", 0644);
write_script($node->data_dir . '/relative', "#!/bin/sh\necho here\n");

my $endless = 'while :; do sleep 0.1; done';
my %overdue = (timeout_ms => 200, timed_out => 1, description => 'did not end within 0.2 s');

# What is run, and what is wanted of the result, the rest being as after success.
for my $case (
	{ name => 'exit 0', sh => 'echo some; echo more >&2', stdout => "some\n", stderr => "more\n" },
	{ name => 'exit 1', sh => 'echo some; exit 1', stdout => "some\n",
		description => 'exited with status 1' },
	{ name => 'signal 9', sh => 'kill -9 $$', description => 'was ended by signal 9' },
	{ name => 'no such file', path => "$temporary/none", description => 'exited with status 127',
		stderr => 'could not be executed: No such file or directory' },
	{ name => 'not executable', path => "$temporary/not_executable",
		description => 'exited with status 127', stderr => 'could not be executed: Permission denied' },
	{ name => 'below the data directory', path => 'relative', stdout => "here\n" },
	{ name => 'no shell', path => '/bin/echo', argv => [ 'echo', '$(touch x); `touch x` | x > x',
		'', '*', '-n' ], stdout => "\$(touch x); `touch x` | x > x  * -n\n" },
	{ name => 'argv[0]', sh => 'echo "$0"', stdout => "sh\n" },
	{ name => 'environment', path => '/usr/bin/env', stdout => "PATH=/usr/bin:/bin\nLC_ALL=C\n" },
	{ name => 'standard input', sh => 'cat; readlink /proc/$$/fd/0', stdout => "/dev/null\n" },
	{ name => 'descriptors', sh => 'ls /proc/$$/fd; :', stdout => "0\n1\n2\n" },
	# But for 32 and 33, which are the C library's own and cannot be set.
	{ name => 'signals', sh => 'for s in Blk Ign; do echo $((0x$(sed -n "s/^Sig$s:[[:space:]]*//p"'
		  . ' /proc/$$/status) & ~0x180000000)); done', stdout => "0\n0\n" },
	{ name => 'process group', sh => 'cut -d" " -f5 /proc/self/stat', stdout => "$session->{pid}\n" },

	# what it writes
	{ name => 'no newline', sh => 'printf some; printf more >&2', stdout => 'some', stderr => 'more' },
	{ name => 'up to NUL', sh => q{printf 'a\0b\n'}, stdout => 'a' },
	{ name => 'much', sh => 'head -c 1048576 /dev/zero | tr "\0" x', stdout => 'x' x 1048576 },
	{ name => 'too much',
		sh => 'head -c 1048577 /dev/zero | tr "\0" x >&2; sleep 0.5; echo end >&2', stderr => "end\n" },
	{ name => 'closes its outputs, ends later', sh => 'echo some; exec >&- 2>&-; sleep 0.5; exit 5',
		stdout => "some\n", description => 'exited with status 5' },
	{ name => 'no time limit', sh => 'sleep 0.5; echo some', timeout_ms => 0, stdout => "some\n" },
	{ name => 'its own child has the outputs', sh => "sleep 1000 & echo \$! >$pid_file; echo some",
		grandchild => 1, stdout => "some\n" },

	# the time is up
	{ name => 'overdue', sh => 'exec sleep 1000', %overdue },
	{ name => 'overdue, ignores SIGTERM', sh => "trap '' TERM; $endless", %overdue },
	{ name => 'overdue, exits 0 at SIGTERM', sh => "trap 'exit 0' TERM; $endless", %overdue },
	{ name => 'overdue, stopped', sh => 'kill -STOP $$', %overdue },
	{ name => 'overdue, in a session of its own', sh => 'exec setsid sleep 1000', %overdue })
{
	my %want = (timed_out => 0, abandoned => 0, stdout => '', stderr => '',
		description => 'exited with status 0',
		map { $_ => $case->{$_} } grep { /^(timed_out|stdout|stderr|description)$/ } keys %$case);
	$want{succeeded} = $want{description} eq 'exited with status 0' ? 1 : 0;
	my $row = row_of("run(${\ arguments(%$case)})");
	ok(eq_hash($row, \%want), "$case->{name}: the result") or diag(substr(explain($row), 0, 999));
	kill 'KILL', pid_in($pid_file) if $case->{grandchild};	# which was left alone
	no_trace_ok($case->{name});
}
ok(!-e $node->data_dir . '/x', 'no shell looked at an argument');
is((query($session, 'SELECT run_silently('
	  . arguments(sh => "kill -INT \$\$; kill \$\$; touch $temporary/silent; $endless",
		timeout_ms => 1000) . ')'))[1], '', 'one that is insistent: no error');
ok(-e "$temporary/silent", 'and SIGINT and SIGTERM do not end it');
no_trace_ok('one that is insistent');

# --- the server has no process

{
	my ($out, $err) = query($session,
		"SET child_process_test.fail_fork = on; SELECT FROM run(${\ arguments(sh => ':')})");
	like($err, qr{ERROR:  53000: could not run "/bin/sh"\nDETAIL:  Could not fork: Resource },
		'no process: is an error');
	no_trace_ok('no process');
	query($session, 'RESET child_process_test.fail_fork');
}

# --- a child that no signal ends

query($session, 'SET child_process_test.deaf = on');
{
	my $row = row_of('run(' . arguments(sh => "echo \$\$ >$pid_file; exec sleep 1000",
		timeout_ms => 1000) . ')');
	my $pid = pid_in($pid_file);
	is("$row->{abandoned} $row->{description}", '1 did not end within 1 s, nor when it was killed',
		'a child that hangs in the kernel is abandoned');
	is(held($session->{pid}), $usual_held, 'and no descriptor is left');
	kill 'KILL', $pid;
}
query($session, 'RESET child_process_test.deaf');
$session->quit;
$session = verbose_session($node);
row_of("run(${\ arguments(sh => ':')})");
$usual_held = held($session->{pid});

# --- many runs

{
	my ($out, $err) = query($session, 'SELECT repeat_run('
		  . arguments(sh => 'echo a; echo b >&2', timeout_ms => 100000) . ', 210)');
	ok($err eq '' && $out < 65536, '200 runs: no memory is left') or diag("$out$err");
	no_trace_ok('200 runs');

	# errors before, while and after a child runs
	my %told;
	seed_random();
	for my $n (1 .. 30)
	{
		query($session, "SET statement_timeout = " . (1 + int rand(40)));
		($out, $err) = query($session, 'SELECT repeat_run('
			  . arguments($n % 2 ? (path => '/bin/true') : (sh => 'echo a; sleep 0.01; echo b'))
			  	  . ', 100000)');
		$told{ $err =~ /57014/ ? 'cancelled' : $err }++;
	}
	is_deeply([ keys %told ], ['cancelled'], 'cancelled at random, 30 times') or diag(explain(\%told));
	# which may be too short for this statement, too
	ok(wait_for(sub { (query($session, 'RESET statement_timeout'))[1] eq '' }),
		'without a limit again');
	no_trace_ok('cancelled at random');
}

# ------------------------------------------------------ what ends its caller

my %kinds = (
	plain => "echo \$\$ >$pid_file; exec sleep 1000",
	# what is sent to the process group is lost on these
	stubborn => "trap '' INT TERM QUIT; echo \$\$ >$pid_file; exec sleep 1000",
	apart => "echo \$\$ >$pid_file; exec setsid sleep 1000");

sub restart_after
{
	my ($mode) = @_;
	return sub { $node->stop($mode); $node->start; return };
}

# These end the main session as well.
$session->quit;

# What is sent before the run, what ends it, what the client is told, whether its
# session goes on after it.
for my $ending (
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => qr/canceling statement due to user request/, survives => 1 },
	{ name => 'statement_timeout', before => "SET statement_timeout = '2s'",
		says => qr/canceling statement due to statement timeout/, survives => 1 },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'lost client', before => "SET client_connection_check_interval = '50ms'",
		end => signal_client('KILL'), says => CLIENT_LOST },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) },
		says => qr/connection.*(lost|closed)/ },
	{ name => 'fast shutdown', end => restart_after('fast'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'immediate shutdown', end => restart_after('immediate'),
		says => qr/connection.*(lost|closed)|immediate shutdown/ },
	{ name => 'killed postmaster', end => sub { kill_postmaster($node) },
		says => qr/connection.*(lost|closed)/ })
{
	for my $kind (sort keys %kinds)
	{
		my $name = "$ending->{name}, child $kind";
		my $of = verbose_session($node);
		my $run = 'run(' . arguments(sh => $kinds{$kind}) . ')';

		query($of, 'SELECT FROM run(' . arguments(sh => ':') . ')');
		my $usual = held($of->{pid});
		query($of, $ending->{before}) if $ending->{before};
		start_query($of, "SELECT FROM $run");
		my $child = pid_in($pid_file);
		$ending->{end}->($of) if $ending->{end};
		my ($out, $err) = finish_query($of);
		client_told_ok($node, $of, $name, $ending->{says}, $out, $err);
		if ($ending->{survives})
		{
			ok(!pid_alive($child), "$name: the child is gone");
			no_trace_ok($name, $of, $usual);
			is((query($of, 'SELECT succeeded FROM run(' . arguments(sh => ':') . ')'))[0], "t\n",
				"$name: the session runs another");
			$of->quit;
		}
		else
		{
			ok(wait_for(sub { !pid_alive($of->{pid}) }), "$name: the backend is gone");
			ok(wait_for(sub { !pid_alive($child) }), "$name: the child is gone");
			eval { $of->{run}->finish };
		}
	}
}

# ------------------------------------------------------------ the tools of ZFS

$session = verbose_session($node);
my $fixtures = "$root/test/fixtures/zfs";
my $calls = "$temporary/calls";
my $tools;

# A new directory with these tools: for each the body of a script, which is to
# set $answer for "$*", or to do otherwise.  Calls are logged.
sub set_tools
{
	my (%bodies) = @_;
	$tools = PostgreSQL::Test::Utils::tempdir();
	write_script($calls, '', 0644);
	for my $name (keys %bodies)
	{
		write_script("$tools/$name", <<"SCRIPT");
#!/bin/sh
{ printf $name; printf ' [%s]' "\$@"; echo; } >>$calls
$bodies{$name}
SCRIPT
	}
	query($session, "SET child_process_test.zfs_directory = " . quoted($tools));
	return;
}

# Answers to arguments are files; to others a complaint.
sub answers
{
	my (%files) = @_;
	return join "\n", 'case "$*" in', (map { "'$_') cat '$fixtures/$files{$_}' ;;" } sort keys %files),
	  q{*) echo "cannot do '$*'" >&2; exit 2 ;;}, 'esac';
}

sub calls_made
{
	chomp(my $made = slurp_file($calls));
	return $made;
}

my %openzfs = (
	zfs => answers('get -Hp all tank/pg' => 'get_openzfs.txt'),
	zpool => answers('status -P tank' => 'status_full.txt'));
my %zfs_fuse = (
	zfs => answers('get -Hp all spz' => 'get_zfs_fuse.txt'),
	zpool => answers('status spz' => 'status_zfs_fuse.txt'));
my $ask_all = "zfs [get] [-Hp] [all] [tank/pg]\nzpool [status] [-P] [tank]";
my $ask_zfs = 'zfs [get] [-Hp] [all] [tank/pg]';
my $hangs = 'exec sleep 1000';

my $not_understood = 'printed output that is not understood';

# tools, wanted columns, calls made, data set if it is not tank/pg
for (
	[ 'OpenZFS', \%openzfs,
		{ known => 1, why => '', sync => 'standard', logbias => 'latency', recordsize => 16384 },
		$ask_all ],
	[ 'zfs-fuse', \%zfs_fuse,
		{ known => 1, why => '', sync => undef, logbias => 'latency', recordsize => 131072,
			vdevs => ['/srv/zz/z.img'] },
		"zfs [get] [-Hp] [all] [spz]\nzpool [status] [-P] [spz]\nzpool [status] [spz]", 'spz' ],
	[ 'blanks', { zfs => answers('get -Hp all big pool/pg data' => 'get_always.txt'),
			zpool => answers() },
		{ known => 1, why => "zpool status exited with status 2: cannot do 'status big pool'",
			sync => 'always', vdevs => [] },
		"zfs [get] [-Hp] [all] [big pool/pg data]\nzpool [status] [-P] [big pool]\nzpool [status]"
		  . " [big pool]", 'big pool/pg data' ],

	# what is missing
	[ 'no tools', {}, { known => 0, why => qr/^there is no program "zfs" in "FOLDER"$/ }, '' ],
	[ 'no zpool', { zfs => $openzfs{zfs} },
		{ known => 1, why => qr/^there is no program "zpool" in "FOLDER"$/, sync => 'standard',
			vdevs => [] }, $ask_zfs ],
	[ 'zfs knows it not', \%openzfs,
		{ known => 0, why => "zfs get exited with status 2: cannot do 'get -Hp all tank/pgx'",
			sync => undef, recordsize => 0, vdevs => [] },
		'zfs [get] [-Hp] [all] [tank/pgx]', 'tank/pgx' ],
	[ 'zpool fails', { %openzfs, zpool => 'exit 1' },
		{ known => 1, why => 'zpool status exited with status 1', sync => 'standard', vdevs => [] },
		"$ask_all\nzpool [status] [tank]" ],
	[ 'long complaint in any bytes',
		{ zfs => q{printf '\033[1m\303\244' >&2; head -c 1000 /dev/zero | tr '\0' x >&2; exit 1} },
		{ known => 0, why => 'zfs get exited with status 1: ?[1m??' . 'x' x 194 }, $ask_zfs ],

	# what is not understood
	[ 'endless garbage', { zfs => 'yes garbage | head -c 10000000' },
		{ known => 0, why => "zfs get $not_understood" }, $ask_zfs ],
	[ 'garbage of zpool', { %openzfs, zpool => 'cat /bin/sh' },
		{ known => 1, why => "zpool status $not_understood", sync => 'standard' },
		"$ask_all\nzpool [status] [tank]" ],

	# who does not answer is not asked again
	[ 'zfs hangs', { %openzfs, zfs => $hangs },
		{ known => 0, why => 'zfs get did not end within 5 s' }, $ask_zfs ],
	[ 'zpool hangs', { %openzfs, zpool => $hangs },
		{ known => 1, why => 'zpool status did not end within 5 s', sync => 'standard' }, $ask_all ],

	# a name is one argument of the tools, and no option
	[ 'an option', \%openzfs, { known => 0, why => '"-r" is not the name of a data set' }, '', '-r' ],
	[ 'a command', \%openzfs, { known => 0, why => qr/^zfs get exited with status 2: / },
		"zfs [get] [-Hp] [all] [\$(touch $temporary/touched)]", "\$(touch $temporary/touched)" ])
{
	my ($name, $bodies, $want, $called, $dataset) = @$_;
	my %want = %$want;
	set_tools(%$bodies);
	my $row = row_of('ask_zfs(' . quoted($dataset // 'tank/pg') . ')');
	like($row->{why} =~ s/\Q$tools\E/FOLDER/r, delete $want{why}, "$name: why") if ref $want{why};
	is_deeply({ map { $_ => $row->{$_} } keys %want }, \%want, "$name: the answer")
	  or diag(explain($row));
	is(calls_made(), $called, "$name: the calls");
	is(scalar(grep { m{^/dev/nvme[01]n1p1$} } @{ $row->{vdevs} }), 2,
		"$name: the log devices are among the parts of the pool") if $name eq 'OpenZFS';
}
ok(!-e "$temporary/touched", 'no shell looked at a name');

set_tools(zfs => "env -u PWD >$temporary/environment");
row_of(q{ask_zfs('tank/pg')});
is(join("\n", sort grep { !/^_=/ } split /\n/, slurp_file("$temporary/environment")),
	"LC_ALL=C\nPATH=/usr/sbin:/usr/bin:/sbin:/bin", 'the environment of the tools');

# What is of no known format.
set_tools();
write_script("$tools/zfs", "no interpreter\n");
is(row_of(q{ask_zfs('tank/pg')})->{why},
	'zfs get exited with status 127: could not be executed: Exec format error', 'no program');

# A machine without ZFS, or with it, but not with this pool.
query($session, 'RESET child_process_test.zfs_directory');
my $usual = '"/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin"';
my $row = row_of(q{ask_zfs('no_pool_of_ours/x')});
is($row->{known}, 0, 'the usual places: nothing is known');
like($row->{why}, qr{^(zfs get .*|there is no program "zfs" in $usual)$}, 'the usual places: why');

# A cancel ends the tool, and is not taken for its answer.
for my $hanging (qw(zfs zpool))
{
	set_tools(%openzfs, $hanging => "echo \$\$ >$pid_file; $hangs");
	start_query($session, q{SELECT FROM ask_zfs('tank/pg')});
	my $child = pid_in($pid_file);
	sql($node, "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	like($err, qr/57014: canceling statement due to user request/, "$hanging hangs: can be cancelled");
	ok(!pid_alive($child), "$hanging hangs: is ended");
}
is(children($session->{pid}), '', 'the tools of ZFS: no child is left');
$session->quit;

end_tests($node);
