# A program run by a backend: what it is given, what of it is read, and that it
# never outlives its purpose, whatever ends the statement, the session or the
# server.  Then the tools of ZFS, as small scripts that answer as these do, or
# fail as these may; test/unit/test_zfs.c tests how answers are understood.
#
# src/common/child_process.c and src/storage/zfs_tools.c are called through functions of
# the test module in test/modules/child_process.

use File::Glob qw(bsd_glob);
use SyncProbeTest;

plan skip_all => 'processes are only looked at on Linux' if $^O ne 'linux';

my $node = probe_cluster('child_process', conf => 'restart_after_crash = on');
my $root = source_directory();
my $temporary = PostgreSQL::Test::Utils::tempdir();
sql($node, "\\set library ${\build_directory()}/test/modules/child_process/child_process_test\n"
	  . slurp_file("$root/test/modules/child_process/child_process_test.sql"));

# --------------------------------------------------------------------- helpers

sub quoted ($string) { return "\$sp\$$string\$sp\$" }

# A call of run() or run_silently(): of a script for the shell, or of path and argv.
sub call ($function, %of)
{
	my @argv = $of{sh} ? ('sh', '-c', $of{sh}) : @{ $of{argv} // ['x'] };
	return "$function(" . quoted($of{path} // '/bin/sh') . ', ARRAY['
	  . join(', ', map { quoted($_) } @argv) . '], ' . ($of{timeout_ms} // 300000) . ')';
}

# Children of a process, the dead ones not yet waited for included.
sub children ($parent)
{
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
sub held ($pid)
{
	my @links = map { readlink($_) // '' } bsd_glob("/proc/$pid/fd/*");
	die "cannot see the descriptors of process $pid" unless @links;
	return scalar grep { m{^pipe:|/pgsql_tmp|^/dev/null$} } @links;
}

# A session that has run a program, and what it holds since.
sub used_session
{
	my $of = verbose_session($node);
	query($of, 'SELECT FROM ' . call('run', sh => ':'));
	$of->{held} = held($of->{pid});
	return $of;
}

sub no_trace_ok ($of, $name)
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(children($of->{pid}), '', "$name: no child is left");
	is(held($of->{pid}), $of->{held}, "$name: no descriptor is left");
	return;
}

# Waits for a script to have written its pid, and returns that.
my $pid_file = "$temporary/pid";

sub pid_in_file
{
	wait_for(sub { -s $pid_file && slurp_file($pid_file) =~ /\n/ }) or die 'no pid was written';
	chomp(my $pid = slurp_file($pid_file));
	unlink $pid_file;
	return $pid;
}

# --------------------------------------------- what it is given, how it ended

# One backend for nearly everything: it must survive, and lose nothing.
my $session = used_session();
my %overdue = (timeout_ms => 200, timed_out => 1, ending => 'did not end within 0.2 s');

# What is run, and what is wanted of the result, the rest being as after success.
for my $case (
	{ name => 'exit 0', sh => 'echo some; echo more >&2', out => "some\n", err => "more\n" },
	{ name => 'signal 9', sh => 'kill -9 $$', ending => 'was ended by signal 9' },
	{ name => 'no such file', path => "$temporary/none", ending => 'exited with status 127',
		err => 'could not be executed: No such file or directory' },
	{ name => 'no shell', path => '/bin/echo', argv => [ 'echo', '$(touch x); `touch x` | x > x',
		'', '*', '-n' ], out => "\$(touch x); `touch x` | x > x  * -n\n" },
	{ name => 'environment', path => '/usr/bin/env', out => "PATH=/usr/bin:/bin\nLC_ALL=C\n" },
	{ name => 'standard input', sh => 'cat; readlink /proc/$$/fd/0', out => "/dev/null\n" },
	{ name => 'descriptors', sh => 'ls /proc/$$/fd; :', out => "0\n1\n2\n" },
	# But for 32 and 33, which are the C library's own and cannot be set.  Without a program: a
	# shell may block signals for a moment when it starts one.
	{ name => 'signals', out => "0\n0\n", sh => 'while read -r name value; do case $name in '
		  . 'SigBlk: | SigIgn:) echo $((0x$value & ~0x180000000)) ;; esac; done </proc/$$/status' },
	{ name => 'process group', sh => 'cut -d" " -f5 /proc/self/stat', out => "$session->{pid}\n" },

	# what it writes
	{ name => 'too much',
		sh => 'head -c 2097153 /dev/zero | tr "\0" x >&2; sleep 0.5; echo end >&2',
		err => "end\n" },
	{ name => 'too much at its end', sh => 'head -c 1048576 /dev/zero | tr "\0" x; echo end',
		out => 'x' x 1048572 . "end\n" },
	{ name => 'its own child has the outputs', sh => "sleep 1000 & echo \$! >$pid_file; echo some",
		timeout_ms => 0, grandchild => 'stays', out => "some\n" },

	# the time is up
	{ name => 'overdue, stopped', sh => 'kill -STOP $$', %overdue },
	{ name => 'overdue, with a child', sh => "sleep 1000 & echo \$! >$pid_file; wait",
		grandchild => 'ends', %overdue })
{
	my %want = (timed_out => 0, ending => 'exited with status 0', out => '', err => '', %$case);
	my $succeeds = $want{ending} eq 'exited with status 0' ? 1 : 0;
	my ($out) = query($session, 'SELECT ' . call('run', %$case));
	ok($out eq join('|', $succeeds, @want{qw(timed_out ending out err)}) . "\n",
		"$case->{name}: the result") or diag(substr($out, 0, 999));
	if (my $then = $case->{grandchild})
	{
		my $pid = pid_in_file();
		ok(wait_for(sub { pid_alive($pid) != ($then eq 'ends') }), "$case->{name}: it $then");
		kill 'KILL', $pid;
	}
	no_trace_ok($session, $case->{name});
}
ok(!-e $node->data_dir . '/x', 'no shell looked at an argument');

is((query($session, 'SELECT ' . call('run_silently', timeout_ms => 1000,
	sh => "kill -INT \$\$; kill \$\$; touch $temporary/ignored; exec sleep 1000")))[1], '',
	'a silent one: no error');
ok(-e "$temporary/ignored", 'a silent one ignores what ends the backend');
no_trace_ok($session, 'a silent one');

# --- a child that no signal ends: it stays one of this backend

query($session, 'SET child_process_test.deaf = on');
is((query($session, 'SELECT ' . call('run', timeout_ms => 1000,
	sh => "echo \$\$ >$pid_file; exec sleep 1000")))[0],
	"0|1|did not end within 1 s, nor when it was killed||\n",
	'a child that hangs in the kernel is abandoned');
is(held($session->{pid}), $session->{held}, 'and no descriptor is left');
kill 'KILL', pid_in_file();
$session->quit;

# ------------------------------------------------------ what ends its caller

# Nothing that is sent to the process group ends it.
my $stubborn = "trap '' INT TERM QUIT; echo \$\$ >$pid_file; exec setsid sleep 1000";

# What ends the run, and what the client is told.  011_workloads.pl has other ends.
for (
	[ 'cancel', signal_backend($node, 'pg_cancel_backend'),
		qr/canceling statement due to user request/ ],
	[ 'killed backend', sub { kill_process($node, $_[0]{pid}) }, qr/connection.*(lost|closed)/ ])
{
	my ($name, $end, $says) = @$_;
	my $of = used_session();
	start_query($of, 'SELECT FROM ' . call('run', sh => $stubborn));
	my $child = pid_in_file();
	$end->($of);
	like(join('', finish_query($of)), $says, "$name: the client was told");
	no_trace_ok($of, $name) if $name eq 'cancel';
	ok(wait_for(sub { !pid_alive($child) }), "$name: the child is gone");
	eval { $of->quit };
}

# ------------------------------------------------------------ the tools of ZFS

$session = used_session();
my $calls = "$temporary/calls";

# Answers to arguments are files; to others a complaint.
sub answers (%files)
{
	return join "\n", 'case "$*" in',
	  (map { "'$_') cat '$root/test/fixtures/zfs/$files{$_}' ;;" } sort keys %files),
	  q{*) echo "cannot do '$*'" >&2; exit 2 ;;}, 'esac';
}

my %openzfs = (
	zfs => answers('get -Hp all tank/pg' => 'get_openzfs.txt'),
	zpool => answers('status -P tank' => 'status_full.txt'));
my %zfs_fuse = (
	zfs => answers('get -Hp all spz' => 'get_zfs_fuse.txt'),
	zpool => answers('status spz' => 'status_zfs_fuse.txt'));
my $ask_zfs = 'zfs [get] [-Hp] [all] [tank/pg]';
my $ask_all = "$ask_zfs\nzpool [status] [-P] [tank]";

# The tools that there are; whether anything is known, the sync property, the number of devices
# and why no more is known; the calls made; the data set if it is not tank/pg.
for (
	[ 'OpenZFS', \%openzfs, '1|standard|12|', $ask_all ],
	[ 'zfs-fuse', \%zfs_fuse, '1||1|',
		"zfs [get] [-Hp] [all] [spz]\nzpool [status] [-P] [spz]\nzpool [status] [spz]", 'spz' ],

	# what is missing
	[ 'no zpool', { zfs => $openzfs{zfs} },
		'1|standard|0|there is no program "zpool" in "FOLDER"', $ask_zfs ],
	[ 'zfs knows it not', \%openzfs,
		q{0||0|zfs get exited with status 2: cannot do 'get -Hp all tank/pg data'},
		'zfs [get] [-Hp] [all] [tank/pg data]', 'tank/pg data' ],
	[ 'long complaint in any bytes',
		{ zfs => q{printf '\033[1m\303\244' >&2; head -c 1000 /dev/zero | tr '\0' x >&2; exit 1} },
		'0||0|zfs get exited with status 1: ?[1m??' . 'x' x 194, $ask_zfs ],

	# what is not understood
	[ 'endless garbage', { zfs => 'yes garbage | head -c 10000000' },
		'0||0|zfs get printed output that is not understood', $ask_zfs ],

	# who does not answer is not asked again
	[ 'zpool hangs', { %openzfs, zpool => 'exec sleep 1000' },
		'1|standard|0|zpool status did not end within 5 s', $ask_all ],

	# a name is one argument of the tools, and no option
	[ 'an option', \%openzfs, '0||0|"-r" is not the name of a data set', '', '-r' ],
	[ 'the environment', { zfs => 'env -u PWD -u _ | sort | paste -s >&2; exit 1' },
		"0||0|zfs get exited with status 1: LC_ALL=C?PATH=/usr/sbin:/usr/bin:/sbin:/bin",
		$ask_zfs ])
{
	my ($name, $tools, $expected, $called, $dataset) = (@$_, 'tank/pg');
	my $directory = PostgreSQL::Test::Utils::tempdir();
	write_file($calls);
	for my $tool (keys %$tools)
	{
		my $log = "{ printf $tool; printf ' [%s]' \"\$@\"; echo; } >>$calls";
		chmod 0755, write_file("$directory/$tool", "#!/bin/sh\n$log\n$tools->{$tool}\n");
	}
	query($session, 'SET child_process_test.zfs_directory = ' . quoted($directory));
	# the program of a COPY is in the process group, too: nothing ends it
	query($session, 'COPY (SELECT ask_zfs(' . quoted($dataset) . "))
		TO PROGRAM 'cat >$directory/answer'");
	my $out = slurp_file("$directory/answer");
	is($out =~ s/\Q$directory\E/FOLDER/r, "$expected\n", "$name: the answer");
	is(slurp_file($calls) =~ s/\n\z//r, $called, "$name: the calls");
}
no_trace_ok($session, 'the tools of ZFS');

# A machine without ZFS, or with it, but not with this pool.
query($session, 'RESET child_process_test.zfs_directory');
like((query($session, "SELECT ask_zfs('no_pool_of_ours/x')"))[0],
	qr{^0\|\|0\|(zfs get .*|there is no program "zfs" in "(/\w+)+(:(/\w+)+)+")$},
	'the usual places');
$session->quit;

end_tests($node);
