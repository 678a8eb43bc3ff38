# A program run by a backend: what it is given, what of it is read, and that it
# never outlives its purpose, whatever ends the statement, the session or the
# server.  Then the tools of ZFS, as small scripts that answer as these do, or
# fail as these may.
#
# src/common/child_process.c and src/storage/zfs_tools.c are called through functions of
# the test module in test/modules/child_process.

use strict;
use warnings;

use File::Glob qw(bsd_glob);
use FindBin;
use JSON::PP;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SyncProbeTest;
use Test::More;
use Time::HiRes qw(sleep);

plan skip_all => 'processes are only looked at on Linux' if $^O ne 'linux';

my $node = probe_cluster('child_process', conf => 'restart_after_crash = on');
my $root = "$FindBin::RealBin/../..";
my $temporary = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres',
	"\\set library ${\build_directory()}/test/modules/child_process/child_process_test\n"
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
	  $of{timeout_ms} // 300000, $of{max_output} // 1000;
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
sub pipes
{
	my ($pid) = @_;
	my @links = map { readlink($_) // '' } bsd_glob("/proc/$pid/fd/*");
	die "cannot see the descriptors of process $pid" unless @links;
	return scalar grep { m{^pipe:|^anon_inode:|^/dev/null$} } @links;
}

row_of("run(${\ arguments(sh => 'exit 0')})");
my $usual_pipes = pipes($session->{pid});

sub no_trace_ok
{
	my ($name, $of, $usual) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$of //= $session;
	is(children($of->{pid}), '', "$name: no child is left");
	is(pipes($of->{pid}), $usual // $usual_pipes, "$name: no descriptor is left");
	return;
}

sub write_script
{
	my ($file, $content, $mode) = @_;
	open my $handle, '>', $file or die "$file: $!";
	print $handle $content;
	close $handle;
	chmod $mode // 0755, $file or die "$file: $!";
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
my $no_newline = write_script("$temporary/no_interpreter_line", "echo x\n");
write_script("$temporary/not_executable", "#!/bin/sh\n", 0644);
write_script("$temporary/no_interpreter", "#!$temporary/none\n");
write_script($node->data_dir . '/relative', "#!/bin/sh\necho here\n");

my %done = (succeeded => 1, description => 'exited with status 0');
my %overdue = (timeout_ms => 200,
	want => { succeeded => 0, timed_out => 1, abandoned => 0,
		description => 'did not end within 0.2 s' });
# With time for the child to have written something.
my %overdue_later = (%overdue, timeout_ms => 3000,
	want => { %{ $overdue{want} }, description => 'did not end within 3 s' });
my $endless = 'while :; do sleep 0.1; done';

sub not_started
{
	my ($errno, $words) = @_;
	return { started => 0, exec_errno => $errno, succeeded => 0, timed_out => 0,
		description => "could not be started: $words", stdout => '', stderr => '' };
}

# name; what is run; what is wanted of the result, the rest being as usual
for my $case (
	{ name => 'exit 0', sh => 'echo some; echo more >&2',
		want => { %done, stdout => "some\n", stderr => "more\n" } },
	{ name => 'exit 1', sh => 'echo some; exit 1', want => { stdout => "some\n",
		description => 'exited with status 1' } },
	{ name => 'exit 127', sh => 'exit 127', want => { description => 'exited with status 127' } },
	{ name => 'signal 9', sh => 'kill -9 $$', want => { description => 'was ended by signal 9' } },
	{ name => 'signal 15', sh => 'echo some; kill $$',
		want => { stdout => "some\n", description => 'was ended by signal 15' } },
	{ name => 'no such file', path => "$temporary/none",
		want => not_started(2, 'No such file or directory') },
	{ name => 'empty path', path => '', want => not_started(2, 'No such file or directory') },
	{ name => 'not executable', path => "$temporary/not_executable",
		want => not_started(13, 'Permission denied') },
	{ name => 'directory', path => $temporary, want => not_started(13, 'Permission denied') },
	{ name => 'below a file', path => "$temporary/not_executable/x",
		want => not_started(20, 'Not a directory') },
	{ name => 'no "#!"', path => $no_newline, want => not_started(8, 'Exec format error') },
	{ name => 'no interpreter', path => "$temporary/no_interpreter",
		want => not_started(2, 'No such file or directory') },
	{ name => 'below the data directory', path => 'relative', want => { %done, stdout => "here\n" } },
	{ name => 'no shell', path => '/bin/echo', argv => [ 'echo', '$(touch x); `touch x` | x > x',
		'', '*', '-n' ],
		want => { %done, stdout => "\$(touch x); `touch x` | x > x  * -n\n" } },
	{ name => 'argv[0]', sh => 'echo "$0"', want => { %done, stdout => "sh\n" } },
	{ name => 'environment', path => '/usr/bin/env',
		want => { %done, stdout => "PATH=/usr/bin:/bin\nLC_ALL=C\n" } },
	{ name => 'standard input', sh => 'cat; readlink /proc/$$/fd/0',
		want => { %done, stdout => "/dev/null\n" } },
	{ name => 'descriptors', sh => 'ls /proc/$$/fd; :', want => { %done, stdout => "0\n1\n2\n" } },
	# But for 32 and 33, which are the C library's own and cannot be set.
	{ name => 'signals', sh => 'for s in Blk Ign; do echo $((0x$(sed -n "s/^Sig$s:[[:space:]]*//p"'
		  . ' /proc/$$/status) & ~0x180000000)); done',
		want => { %done, stdout => "0\n0\n" } },
	{ name => 'process group', sh => 'cut -d" " -f5 /proc/self/stat',
		want => { %done, stdout => "$session->{pid}\n" } },

	# what it writes
	{ name => 'interleaved', sh => 'for i in 1 2 3; do echo o$i; echo e$i >&2; done',
		want => { %done, stdout => "o1\no2\no3\n", stderr => "e1\ne2\ne3\n" } },
	{ name => 'nothing', sh => ':', want => { %done, stdout => '', stderr => '' } },
	{ name => 'no newline', sh => 'printf some; printf more >&2',
		want => { %done, stdout => 'some', stderr => 'more' } },
	{ name => 'binary', sh => q{printf 'a\0b\377\n'}, want => { %done, stdout => "a<00>b<ff>\n" } },
	{ name => 'more than is kept', sh => 'seq 1 100000; seq 1 100000 >&2', max_output => 10,
		want => { %done, stdout => "1\n2\n3\n4\n5\n", stderr => "1\n2\n3\n4\n5\n" } },
	{ name => 'nothing is kept', sh => 'seq 1 100000', max_output => 0,
		want => { %done, stdout => '' } },
	{ name => 'closes one output', sh => 'exec >&-; echo more >&2',
		want => { %done, stderr => "more\n" } },
	{ name => 'closes its outputs, ends later', sh => 'echo some; exec >&- 2>&-; sleep 0.5; exit 5',
		want => { stdout => "some\n", description => 'exited with status 5' } },
	{ name => 'no time limit', sh => 'sleep 0.5; echo some', timeout_ms => 0,
		want => { %done, stdout => "some\n" } },

	# its own child has the pipes
	{ name => 'grandchild', sh => "sleep 1000 & echo \$! >$pid_file; echo some", grandchild => 1,
		want => { %done, stdout => "some\n" } },
	{ name => 'talking grandchild', sh => "yes & echo \$! >$pid_file", grandchild => 1,
		max_output => 4,
		want => { %done, stdout => qr/^(y\ny\n)?$/ } },
	{ name => 'grandchild of an overdue child', sh => "sleep 1000 & echo \$! >$pid_file; $endless",
		grandchild => 1, %overdue_later },

	# the time is up
	{ name => 'overdue', sh => 'echo some; exec sleep 1000', %overdue },
	{ name => 'overdue, talks', sh => 'exec yes', %overdue },
	{ name => 'overdue, closed its outputs', sh => 'exec >&- 2>&-; exec sleep 1000', %overdue },
	{ name => 'overdue, ignores SIGTERM', sh => "trap '' TERM; $endless", %overdue },
	{ name => 'overdue, ignores SIGTERM and talks', sh => "trap '' TERM; exec yes", %overdue },
	{ name => 'overdue, exits 0 at SIGTERM', sh => "trap 'exit 0' TERM; $endless", %overdue },
	{ name => 'overdue, stopped', sh => 'kill -STOP $$', %overdue },
	{ name => 'overdue, in a session of its own', sh => 'exec setsid sleep 1000', %overdue })
{
	my %want = (started => 1, exec_errno => 0, timed_out => 0, abandoned => 0, succeeded => 0,
		%{ $case->{want} });
	my $row = row_of("run(${\ arguments(%$case)})");
	for my $column (grep { ref $want{$_} } keys %want)
	{
		like($row->{$column}, delete $want{$column}, "$case->{name}: $column");
		$want{$column} = $row->{$column};
	}
	is_deeply({ map { $_ => $row->{$_} } keys %want }, \%want, "$case->{name}: the result")
		or diag(explain($row));
	if ($case->{grandchild})
	{
		# which was left alone; it may have died of the closed pipe
		kill 'KILL', pid_in($pid_file);
	}
	no_trace_ok($case->{name});
}
ok(!-e $node->data_dir . '/x', 'no shell looked at an argument');

# As much on both pipes as neither holds.
{
	my $much = 'head -c 10000000 /dev/zero | tr "\0" x';
	my ($out, $err) = query($session,
		'SELECT succeeded, length(stdout), length(stderr), stdout = repeat($$x$$, 10000000)'
		  . ' FROM run('
		  . arguments(sh => "$much & $much >&2; wait", max_output => 20_000_000) . ')');
	is("$out$err", "t|10000000|10000000|t\n", '10 MB on both outputs at once');
	no_trace_ok('10 MB on both outputs at once');
}

# --- lines as they come

# Writes the next line when the one before was read: FIONREAD tells how much is not.
my $in_turns = <<'SH';
exec perl -e '
	sub put {
		my ($file, $text) = @_;
		my $unread = pack "i", 0;
		syswrite $file, $text;
		do { ioctl $file, 0x541b, $unread or die $! } while unpack "i", $unread;
	}
	put(*STDOUT, "a\n"); put(*STDERR, "b\n"); put(*STDOUT, "c");'
SH

# script, max_output, lines
for (
	[ 'echo a; echo b', 100, "out: a\nout: b\n" ],
	[ 'printf "a\n\nb"', 100, "out: a\nout: \nout: b\n" ],
	[ 'printf a; sleep 0.3; printf "b\nc"; sleep 0.3; echo d', 100, "out: ab\nout: cd\n" ],
	[ $in_turns, 100, "out: a\nerr: b\nout: c\n" ],
	[ 'echo 12345678; echo 2', 5, "out: 12345\nout: 2\n" ],
	[ 'seq 1 3; printf 12345678', 5, "out: 1\nout: 2\nout: 3\nout: 12345\n" ],
	[ 'printf "a\0b\nc\n"', 100, "out: a\nout: c\n" ])
{
	my ($script, $most, $lines) = @$_;
	my ($out, $err) = query($session,
		'SELECT run_lines(' . arguments(sh => $script, max_output => $most) . ", 'nothing')");
	is("$out$err", "$lines\n", "lines of ${\ (split /\n/, $script)[0]}");
}
{
	my ($out, $err) = query($session,
		q{SELECT count(*), min(line), max(line) FROM regexp_split_to_table(run_lines(}
		  . arguments(sh => 'seq 100000 300000', max_output => 50)
		  	  . q{, 'nothing'), '\n') line WHERE line <> ''});
	is("$out$err", "200001|out: 100000|out: 300000\n",
		'many lines, each longer than what is kept is short');
	($out, $err) = query($session, 'SELECT run_lines('
		  . arguments(sh => "echo \$\$ >$pid_file; echo a; echo b; exec sleep 1000") . ", 'b')");
	like($err, qr/ERROR:  XX000: line "b" was seen/, 'who gets the lines may throw an error');
	ok(!pid_alive(pid_in($pid_file)), 'which ends the child');
	no_trace_ok('error at a line');
}

# --- streams: what is read of FIFOs that have its process ID in their names

my $prefix = "$temporary/stream";

sub streams_call
{
	my ($n, $script, %of) = @_;
	return 'run_streams(' . arguments(sh => $script, %of) . ', ' . quoted($prefix) . ", $n, "
		  . quoted($of{throw_at} // 'nothing') . ')';
}

sub remove_fifos
{
	unlink bsd_glob("$prefix.*");
	return;
}

# name, how many, script, contents; how it ends, if not well
for my $case (
	{ name => 'one each', n => 3,
		sh => "for i in 0 1 2; do echo \$i >$prefix.\$\$.\$i; done; echo done",
		contents => [ "0\n", "1\n", "2\n" ], stdout => "done\n" },
	{ name => 'none is written', n => 2, sh => 'echo done', contents => [ '', '' ],
		stdout => "done\n" },
	{ name => 'one is written', n => 3, sh => "echo x >$prefix.\$\$.1",
		contents => [ '', "x\n", '' ] },
	{ name => 'opened, not written', n => 1, sh => ": >$prefix.\$\$.0", contents => [''] },
	{ name => 'in turns', n => 2, contents => [ "acd", "b" ],
		sh => "exec 3>$prefix.\$\$.0 4>$prefix.\$\$.1; printf a >&3; sleep 0.2; printf b >&4; sleep"
			  . " 0.2; printf c >&3; exec 4>&-; printf d >&3" },
	{ name => 'one ends early', n => 2,
		sh => "echo 0 >$prefix.\$\$.0; sleep 0.3; echo 1 >$prefix.\$\$.1",
		contents => [ "0\n", "1\n" ] },
	{ name => 'written twice', n => 1,
		sh => "echo 0 >$prefix.\$\$.0; sleep 0.3; echo 1 >$prefix.\$\$.0", contents => ["0\n1\n"] },
	{ name => 'outputs are closed', n => 1,
		sh => "exec >&- 2>&-; sleep 0.3; echo x >$prefix.\$\$.0", contents => ["x\n"] },
	{ name => 'it fails', n => 1, sh => "echo x >$prefix.\$\$.0; exit 3", contents => ["x\n"],
		description => 'exited with status 3' },
	{ name => 'it is killed', n => 1, sh => "exec 3>$prefix.\$\$.0; echo x >&3; kill -9 \$\$",
		contents => ["x\n"],
		description => 'was ended by signal 9' },
	{ name => 'it is overdue', n => 1, sh => "exec 3>$prefix.\$\$.0; echo x >&3; exec sleep 1000",
		timeout_ms => 3000, contents => ["x\n"],
		description => 'did not end within 3 s' },
	{ name => 'grandchild has it open', n => 1,
		sh => "exec 3>$prefix.\$\$.0; sleep 1000 >/dev/null 2>&1 & echo \$! >$pid_file; echo x >&3",
		grandchild => 1, contents => ["x\n"] },
	{ name => 'descriptors', n => 3, sh => 'ls /proc/$$/fd; :', contents => [ '', '', '' ],
		stdout => "0\n1\n2\n" },
	{ name => 'cannot be executed', n => 1, path => "$temporary/none", contents => [''],
		description => 'could not be started: No such file or directory' })
{
	my $row = row_of(streams_call($case->{n}, $case->{sh}, %$case));
	is_deeply($row, { description => $case->{description} // 'exited with status 0',
		stdout => $case->{stdout} // '',
			contents => $case->{contents} }, "streams, $case->{name}") or diag(explain($row));
	kill 'KILL', pid_in($pid_file) if $case->{grandchild};
	no_trace_ok("streams, $case->{name}");
	remove_fifos();
}

# More than any FIFO holds, in all at once, and in the right order.
{
	my $all = join ' ', map { "seq 1 300000 >$prefix.\$\$.$_ &" } 0 .. 2;
	my ($out, $err) = query($session,
		"SELECT bool_and(c = (SELECT string_agg(n || E'\\n', '' ORDER BY n)"
		  . " FROM generate_series(1, 300000) n)), count(*)"
		  . ' FROM ' . streams_call(3, "$all wait") . ', unnest(contents) c');
	is("$out$err", "t|3\n", 'streams, much in each');
	no_trace_ok('streams, much in each');
	remove_fifos();
}

my $needs = qr/DETAIL:  It needs 10000\d\d in this session, and \d+ are free\./;
my $fewer = qr/HINT:  Ask for fewer streams\. Alternatively, raise max_files_per_process\./;

# Errors before it runs the program, and while: the program has not run, or runs no more.
for (
	[ 'too many', undef, streams_call(1_000_000, "touch $temporary/ran"),
		qr{53000: not enough file descriptors to run "/bin/sh"\n$needs\n$fewer} ],
	[ 'one cannot be opened', 'fail_stream = 1', streams_call(3, "touch $temporary/ran"),
		qr/stream 1 cannot be opened/ ],
	[ 'cancelled before it runs', 'hang_stream = 1', streams_call(3, "touch $temporary/ran"),
		qr/57014: canceling statement due to statement timeout/ ],
	[ 'who reads one throws', undef, streams_call(2,
		"exec 3>$prefix.\$\$.1; printf x >&3; exec sleep 1000", throw_at => 'x'),
		qr/stream 1 was read/ ])
{
	my ($name, $setting, $call, $message) = @$_;
	query($session, "SET child_process_test.$setting") if $setting;
	query($session, "SET statement_timeout = '300ms'") if $name =~ /^cancelled/;
	my ($out, $err) = query($session, "SELECT FROM $call");
	like($err, $message, "streams, $name: is an error");
	ok(!-e "$temporary/ran", "streams, $name: the program has not run");
	no_trace_ok("streams, $name");
	query($session, 'RESET child_process_test.fail_stream; RESET child_process_test.hang_stream;'
		  . ' RESET statement_timeout');
	remove_fifos();
}

# --- polled by a caller that does something else meanwhile

for my $case (
	{ name => 'ends', sh => 'echo some; echo words >&2; exit 3',
		row => { ended => 1, description => 'exited with status 3', stdout => "some\n",
			stderr => "words\n" } },
	{ name => 'is ended', sh => 'echo ready; exec sleep 1000', until => 'ready',
		row => { ended => 0, description => undef, stdout => "ready\n", stderr => '' } },
	{ name => 'ignores SIGTERM', sh => "trap '' TERM; echo ready; exec sleep 1000", until => 'ready',
		row => { ended => 0, description => undef, stdout => "ready\n", stderr => '' } },
	{ name => 'writes more than pipes hold',
		sh => 'head -c 300000 /dev/zero | tr "\\0" x; head -c 300000 /dev/zero | tr "\\0" y >&2',
		max_output => 10,
		row => { ended => 1, description => 'exited with status 0', stdout => 'x' x 10,
			stderr => 'y' x 10 } },
	{ name => 'cannot be executed', path => "$temporary/none",
		row => { ended => 1, description => 'could not be started: No such file or directory',
			stdout => '', stderr => '' } },
	{ name => 'takes too long', sh => 'exec sleep 1000', timeout_ms => 200,
		row => { ended => 1, description => 'did not end within 0.2 s', stdout => '', stderr => '' } })
{
	my $row = row_of('poll(' . arguments(%$case) . ', ' . quoted($case->{until} // 'never') . ')');
	is_deeply($row, $case->{row}, "polled, $case->{name}") or diag(explain($row));
	no_trace_ok("polled, $case->{name}");
}
{
	start_query($session, 'SELECT FROM poll('
		  . arguments(sh => "echo \$\$ >$pid_file; exec sleep 1000") . ", 'never')");
	my $child = pid_in($pid_file);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	like($err, qr/57014: canceling statement due to user request/, 'polled: can be cancelled');
	ok(!pid_alive($child), 'polled: a cancel ends the child');
	no_trace_ok('polled, cancelled');
}
for my $setting ('fail_fork = on', 'fail_pipe = 2')
{
	my ($out, $err) = query($session,
		"SET child_process_test.$setting; SELECT FROM poll(${\ arguments(sh => ':')}, '')");
	like($err, qr/ERROR:  53000: could not/, "polled, $setting: is an error");
	no_trace_ok("polled, $setting");
	query($session, 'RESET child_process_test.fail_fork; RESET child_process_test.fail_pipe');
}

# --- the server has no process, or no descriptor

# setting, SQLSTATE and message
for (
	[ 'fail_fork = on',
		qr{53000: could not fork process to run "/bin/sh": Resource temporarily unavailable} ],
	map { [ "fail_pipe = $_", qr/53000: could not create pipe: Too many open files/ ] } 1 .. 4)
{
	my ($setting, $message) = @$_;
	my ($out, $err) = query($session,
		"SET child_process_test.$setting; SELECT FROM run(${\ arguments(sh => ':')})");
	like($err, qr/ERROR:  $message/, "$setting: is an error");
	no_trace_ok($setting);
	query($session, 'RESET child_process_test.fail_fork; RESET child_process_test.fail_pipe');
	is(row_of("run(${\ arguments(sh => ':')})")->{succeeded}, 1, "$setting: the next run works");
}

# --- a child that no signal ends

query($session, 'SET child_process_test.deaf = on');
{
	my $row = row_of('run(' . arguments(sh => "echo \$\$ >$pid_file; echo some; exec sleep 1000",
		timeout_ms => 3000) . ')');
	my $pid = pid_in($pid_file);
	is_deeply([ @$row{qw(started timed_out abandoned succeeded description stdout)} ],
		[ 1, 1, 1, 0, 'did not end within 3 s, nor when it was killed', "some\n" ],
			'a child that hangs in the kernel is abandoned');
	is(pipes($session->{pid}), $usual_pipes, 'and no descriptor is left');
	ok(pid_alive($pid), 'it lives on');

	my $second = do
	{
		# cancelled, and in a session of its own, so that the cancel does not reach it
		query($session, "SET statement_timeout = '500ms'");
		my ($out, $err) = query($session, 'SELECT FROM run('
			  . arguments(sh => "echo \$\$ >$pid_file; exec setsid sleep 1000") . ')');
		like($err, qr/57014: canceling statement due to statement timeout/,
			'another one is abandoned by a cancel');
		query($session, 'RESET statement_timeout');
		pid_in($pid_file);
	};
	ok(pid_alive($second), 'it lives on too');

	kill 'KILL', $pid, $second;
	ok(wait_for(sub { !pid_alive($pid) && !pid_alive($second) }), 'when they end at last');
	query($session, 'RESET child_process_test.deaf');
	is(row_of("run(${\ arguments(sh => ':')})")->{succeeded}, 1, 'the next run');
	no_trace_ok('takes them off the process table');
}

# --- another module ignores the end of children

query($session, 'SELECT ignores_sigchld(true)');
is(row_of("run(${\ arguments(sh => 'exit 3')})")->{description}, 'exited with status 3',
	'SIGCHLD ignored: the status is known');
is((query($session, 'SELECT ignores_sigchld(null)'))[0], "t\n",
	'SIGCHLD ignored: and it is ignored again');
query($session, 'SELECT ignores_sigchld(false)');

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
	talking => "echo \$\$ >$pid_file; exec yes",
	'with closed outputs' => "exec >&- 2>&-; echo \$\$ >$pid_file; exec sleep 1000",
	# what is sent to the process group is lost on these
	stubborn => "trap '' INT TERM QUIT; echo \$\$ >$pid_file; exec sleep 1000",
	apart => "echo \$\$ >$pid_file; exec setsid sleep 1000",
);

sub restart_after
{
	my ($mode) = @_;
	return sub { $node->stop($mode); $node->start; return };
}

# The server's processes notice that, and end themselves; each works in the data
# directory.
sub kill_postmaster
{
	my $data = $node->data_dir;
	$node->kill9;
	wait_for(sub { !grep { (readlink($_) // '') eq $data } bsd_glob('/proc/[0-9]*/cwd') })
	  or die 'a process of a server without a postmaster lives on';

	# as long as nobody waited for it, a killed process seems to hold its locks
	unlink "$data/postmaster.pid", $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	$node->start;
	return;
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
	{ name => 'killed postmaster', end => \&kill_postmaster, says => qr/connection.*(lost|closed)/ })
{
	for my $kind (sort keys %kinds)
	{
		my $name = "$ending->{name}, child $kind";
		my $of = verbose_session($node);
		my $run = 'run(' . arguments(sh => $kinds{$kind}) . ')';

		query($of, 'SELECT FROM run(' . arguments(sh => ':') . ')');
		my $usual = pipes($of->{pid});
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

# The same before the program is executed: what ends the backend ends the process
# that waits; and who kills that is noticed.
for my $ending (
	{ name => 'pg_cancel_backend', end => signal_backend($node, 'pg_cancel_backend'),
		says => qr/canceling statement due to user request/ },
	{ name => 'pg_terminate_backend', end => signal_backend($node, 'pg_terminate_backend'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'killed backend', end => sub { kill_process($node, $_[0]{pid}) },
		says => qr/connection.*(lost|closed)/ },
	{ name => 'fast shutdown', end => restart_after('fast'),
		says => qr/terminating connection due to administrator command/ },
	{ name => 'killed postmaster', end => \&kill_postmaster, says => qr/connection.*(lost|closed)/ },
	{ name => 'killed child', end => sub { kill 'KILL', $_[1] },
		says => qr/^was ended by signal 9$/m })
{
	my $name = "$ending->{name}, child before it runs";
	my $of = verbose_session($node);
	my $child;

	query($of, 'SET child_process_test.hang_stream = 0');
	start_query($of, 'SELECT description FROM ' . streams_call(1, "touch $temporary/ran"));
	ok(wait_for(sub { ($child) = children($of->{pid}) =~ /^(\d+) postgres S$/ }), "$name: it waits");
	$ending->{end}->($of, $child);
	my ($out, $err) = finish_query($of);
	client_told_ok($node, $of, $name, $ending->{says}, $out, $err);
	ok(wait_for(sub { !pid_alive($child) }), "$name: it is gone");
	ok(!-e "$temporary/ran", "$name: the program has not run");
	eval { $of->quit };
	remove_fifos();
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

# tools, data set, wanted columns, calls made
for (
	[ 'OpenZFS', \%openzfs, 'tank/pg',
		{ known => 1, why => '', sync => 'standard', logbias => 'latency', recordsize => 16384 },
		$ask_all ],
	[ 'zfs-fuse', \%zfs_fuse, 'spz',
		{ known => 1, why => '', sync => undef, logbias => 'latency', recordsize => 131072,
			vdevs => ['/srv/zz/z.img'] },
		"zfs [get] [-Hp] [all] [spz]\nzpool [status] [-P] [spz]\nzpool [status] [spz]" ],
	[ 'blanks', { zfs => answers('get -Hp all big pool/pg data' => 'get_always.txt'),
			zpool => answers() }, 'big pool/pg data',
		{ known => 1, why => "zpool status exited with status 2: cannot do 'status big pool'",
			sync => 'always', vdevs => [] },
		"zfs [get] [-Hp] [all] [big pool/pg data]\nzpool [status] [-P] [big pool]\nzpool [status]"
			  . " [big pool]" ],

	# what is missing
	[ 'no tools', {}, 'tank/pg', { known => 0, why => qr/^there is no program "zfs" in "\Q%s\E"$/ },
		'' ],
	[ 'no zpool', { %openzfs, zpool => undef }, 'tank/pg',
		{ known => 1, why => qr/^there is no program "zpool" in "\Q%s\E"$/, sync => 'standard',
			vdevs => [] }, $ask_zfs ],
	[ 'zfs fails', { %openzfs, zfs => 'echo nothing; exit 1' }, 'tank/pg',
		{ known => 0, why => 'zfs get exited with status 1', sync => undef, recordsize => -1,
			vdevs => [] }, $ask_zfs ],
	[ 'zfs knows it not', \%openzfs, 'tank/pgx',
		{ known => 0, why => "zfs get exited with status 2: cannot do 'get -Hp all tank/pgx'" },
			'zfs [get] [-Hp] [all] [tank/pgx]' ],
	[ 'zfs is killed', { %openzfs, zfs => 'kill -9 $$' }, 'tank/pg',
		{ known => 0, why => 'zfs get was ended by signal 9' }, $ask_zfs ],
	[ 'zpool fails', { %openzfs, zpool => 'exit 1' }, 'tank/pg',
		{ known => 1, why => 'zpool status exited with status 1',
			sync => 'standard', vdevs => [] },
		"$ask_zfs\nzpool [status] [-P] [tank]\nzpool [status] [tank]" ],
	[ 'long complaint in any bytes',
		{ zfs => q{printf '\033[1m\303\244' >&2; head -c 1000 /dev/zero | tr '\0' x >&2; exit 1} },
		'tank/pg',
		{ known => 0, why => 'zfs get exited with status 1: ?[1m??' . 'x' x 194 }, $ask_zfs ],

	# what is not understood
	[ 'garbage', { zfs => 'cat /bin/sh' }, 'tank/pg',
		{ known => 0, why => 'zfs get printed output that is not understood' }, $ask_zfs ],
	[ 'nothing', { zfs => ':' }, 'tank/pg', { known => 0,
		why => 'zfs get printed output that is not understood' }, $ask_zfs ],
	[ 'endless garbage', { zfs => 'yes garbage | head -c 10000000' }, 'tank/pg',
		{ known => 0, why => 'zfs get printed output that is not understood' }, $ask_zfs ],
	[ 'garbage of zpool', { %openzfs, zpool => 'cat /bin/sh' }, 'tank/pg',
		{ known => 1, why => 'zpool status printed output that is not understood', sync => 'standard' },
		"$ask_zfs\nzpool [status] [-P] [tank]\nzpool [status] [tank]" ],

	# who does not answer is not asked again
	[ 'zfs hangs', { %openzfs, zfs => $hangs }, 'tank/pg',
		{ known => 0, why => 'zfs get did not end within 5 s' }, $ask_zfs ],
	[ 'zpool hangs', { %openzfs, zpool => $hangs }, 'tank/pg',
		{ known => 1, why => 'zpool status did not end within 5 s', sync => 'standard' },
			"$ask_zfs\nzpool [status] [-P] [tank]" ],

	# names that the tools are not given
	map { [ "name \"$_->[0]\"", \%openzfs, $_->[1] // $_->[0],
		{ known => 0, why => qr/" is not the name of a data set$/ }, '' ] }
	  [''], ['-o'], ['a;b'], ["\$(touch $temporary/touched)"], ["`touch $temporary/touched`"],
	  	['/tank'], ['tank/../x'],
	  ['with newline', "tank\nx"], ['with quote', "tank'x"], [ 'too long', 'x' x 256 ])
{
	my ($name, $bodies, $dataset, $want, $called) = @$_;
	my %want = %$want;
	set_tools(map { $_ => $bodies->{$_} } grep { defined $bodies->{$_} } keys %$bodies);
	my $row = row_of('ask_zfs(' . quoted($dataset) . ')');
	if (ref $want{why})
	{
		like($row->{why} =~ s/\Q$tools\E/%s/r, delete $want{why}, "$name: why");
	}
	is_deeply({ map { $_ => $row->{$_} } keys %want }, \%want, "$name: the answer")
		or diag(explain($row));
	is(calls_made(), $called, "$name: the calls");
}
ok(!-e "$temporary/touched", 'no shell looked at a name');

{
	set_tools(%openzfs);
	my $row = row_of(q{ask_zfs('tank/pg')});
	is(scalar(grep { m{^/dev/nvme[01]n1p1$} } @{ $row->{vdevs} }), 2,
		'OpenZFS: the log devices are among the parts of the pool');

	set_tools(zfs => "env -u PWD >$temporary/environment");
	row_of(q{ask_zfs('tank/pg')});
	is(join("\n", sort grep { !/^_=/ } split /\n/, slurp_file("$temporary/environment")),
		"LC_ALL=C\nPATH=/usr/sbin:/usr/bin:/sbin:/bin", 'the environment of the tools');

	set_tools();
	mkdir "$tools/zfs" or die $!;
	like(row_of(q{ask_zfs('tank/pg')})->{why}, qr/^there is no program "zfs" in /,
		'a directory is no program');
	rmdir "$tools/zfs";
	write_script("$tools/zfs", "#!/bin/sh\n", 0644);
	like(row_of(q{ask_zfs('tank/pg')})->{why}, qr/^there is no program "zfs" in /,
		'nor is what is not executable');
	write_script("$tools/zfs", "no interpreter\n");
	is(row_of(q{ask_zfs('tank/pg')})->{why}, 'zfs get could not be started: Exec format error',
		'nor what is no program');

	# a machine without ZFS, or with, but not with this
	query($session, 'RESET child_process_test.zfs_directory');
	$row = row_of(q{ask_zfs('no_pool_of_ours/x')});
	is($row->{known}, 0, 'the usual places: nothing is known');
	my $usual = '/usr/sbin, /sbin, /usr/local/sbin, /usr/bin, /bin';
	like($row->{why}, qr{^(zfs get .*|there is no program "zfs" in $usual)$},
		'the usual places: why');
}

# A cancel ends the tool, and is not taken for its answer.
for my $hanging (qw(zfs zpool))
{
	set_tools(%openzfs, $hanging => "echo \$\$ >$pid_file; $hangs");
	start_query($session, q{SELECT FROM ask_zfs('tank/pg')});
	my $child = pid_in($pid_file);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($session->{pid})");
	my ($out, $err) = finish_query($session);
	like($err, qr/57014: canceling statement due to user request/, "$hanging hangs: can be cancelled");
	ok(!pid_alive($child), "$hanging hangs: is ended");
}
is(children($session->{pid}), '', 'the tools of ZFS: no child is left');
$session->quit;

fails_ok($node, 'where the tools are',
	<<'SQL', '42501', qr/permission denied to set parameter "pg_sync_probe.zfs_directory"/);
LOAD 'pg_sync_probe'; CREATE ROLE somebody; SET ROLE somebody; SET pg_sync_probe.zfs_directory
    = '/tmp';
SQL

log_ok($node);
done_testing();
