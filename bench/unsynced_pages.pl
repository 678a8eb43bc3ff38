#!/usr/bin/env perl
#
# unsynced_pages.pl: WAL that the server reports as flushed, and that the disk does not have.
#
#	unsynced_pages.pl [--psql PROGRAM] [--psql-conninfo STRING] [--wal-dir DIRECTORY]
#		[--image FILE [--direct|--buffered]] [--checks N] [--gap SECONDS] [--window MB]
#		[--since LSN] [--tsv] [--verbose]
#
# pg_wal must lie on ext4 or xfs on a loop device.  Each check asks for the flush position,
# reads the whole pages before it from the loop device's file, at the place where FIEMAP
# says that they are, and compares them with what the file in pg_wal reads as.  A page that
# differs is in the page cache only: a power failure loses it, although it counts as flushed.
#
#	--psql-conninfo  how to reach the server, as superuser or pg_monitor (default: as psql)
#	--wal-dir        pg_wal (default: asked from the server)
#	--image          file of the loop device (default: as sysfs says), which root can read
#	--direct         the loop device does direct I/O to that file (default: as sysfs says)
#	--checks         number of checks (20), --gap seconds between them (0.1)
#	--window         how far back from the flush position, in MB (32)
#	--since          no page before that of this position, whatever the window is
#	--tsv            one line of figures instead of words: checks, pages, checks with
#	                 unsynced pages, most kB of them, the same two numbers for pages since the
#	                 redo pointer of the last completed checkpoint, and how many kB the oldest
#	                 one was behind the flush position
#	--verbose        each check, on stderr
#
# Exit status: 0 if every page was there, 1 if one was not, 2 if nothing could be compared.
#
# What it can tell.  A page that is on the loop device may still be in the volatile cache of
# that device, since a flush cannot be seen here.  So the figures are a lower limit.
# FIEMAP_FLAG_SYNC is not used, because it would write the pages that are to be found.
# The page cache could show what no device has at two places.  The first is that of pg_wal,
# which is meant to.  The second is that of the image.  A loop device without direct I/O
# writes there, so a buffered read shows what it was given, and a direct read would first
# force that to the disk below.  With direct I/O the cache may be stale, and direct reads
# are right.  The cache of the block device is used by nobody: file data bypass it.

use strict;
use warnings;

use Getopt::Long;
use IPC::Open2;
use POSIX ();
use Time::HiRes;

use constant {
	FS_IOC_FIEMAP => 0xC020660B,
	# of a file of one segment there are few
	EXTENTS => 512,
	EXTENT_SIZE => 56,
	HEADER_SIZE => 32,
	# extents whose place is unknown, and those that read as zeros whatever is there
	FIEMAP_EXTENT_UNKNOWN => 0x2,
	FIEMAP_EXTENT_DELALLOC => 0x4,
	FIEMAP_EXTENT_UNWRITTEN => 0x800,
	# offset of the page's address in its header
	PAGE_ADDRESS => 8,
};

my %option = (psql => 'psql', checks => 20, gap => 0.1, window => 32);
GetOptions(\%option, 'psql=s', 'psql-conninfo=s', 'wal-dir=s', 'image=s', 'direct', 'buffered',
	'checks=i', 'gap=f', 'window=i', 'since=s', 'tsv', 'verbose')
  && @ARGV == 0
  && $option{checks} > 0
  && $option{gap} >= 0
  && $option{window} > 0
  && (!defined $option{since} || $option{since} =~ m{^([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})$})
  or give_up('see the head of this file for its options');

my $since = defined $option{since} ? hex($1) * 2**32 + hex($2) : 0;

sub give_up
{
	my ($why) = @_;
	print STDERR "unsynced_pages.pl: $why\n";
	exit 2;
}

# ------------------------------------------------------------------ the server

# One session for all checks: the time between the answer and the reading is to be short.
my @command = ($option{psql}, qw(-X -q -A -t -F), ' ', qw(-v ON_ERROR_STOP=1));
push @command, '-d', $option{'psql-conninfo'} if defined $option{'psql-conninfo'};
my $psql = open2(my $answers, my $questions, @command);

# The columns of a row, which have no blanks.
sub ask
{
	my ($query) = @_;
	local $SIG{PIPE} = 'IGNORE';
	print $questions "$query;\n";
	$questions->flush;
	my $line = <$answers>;
	give_up('the server did not answer') unless defined $line;
	chomp $line;
	return split / /, $line;
}

my ($page_size, $segment_size) = ask("SELECT current_setting('wal_block_size'),"
	  . " pg_size_bytes(current_setting('wal_segment_size'))");
if (!defined $option{'wal-dir'})
{
	($option{'wal-dir'}) = ask(q(SELECT current_setting('data_directory') || '/pg_wal'));
}

# -------------------------------------------------------------- the loop device

sub first_line
{
	my ($path) = @_;
	open my $file, '<', $path or return;
	my $line = <$file>;
	close $file;
	chomp $line if defined $line;
	return $line;
}

# Where sysfs describes the loop device below a directory; undefined for another device.
sub loop_device
{
	my ($directory) = @_;
	my $device = (stat $directory)[0];
	give_up("could not stat \"$directory\": $!") unless defined $device;
	my $major = ($device >> 8) & 0xfff;
	my $minor = ($device & 0xff) | (($device >> 12) & 0xfff00);
	my $loop = "/sys/dev/block/$major:$minor/loop";
	return -d $loop ? $loop : undef;
}

my $loop = loop_device($option{'wal-dir'});
my $image_offset = 0;
if (defined $loop)
{
	$option{image} //= first_line("$loop/backing_file");
	$option{direct} //= first_line("$loop/dio") && !$option{buffered};
	$image_offset = first_line("$loop/offset");
}
give_up("\"$option{'wal-dir'}\" is not on a loop device, and there is no --image")
  unless defined $option{image};
open my $image, '<:raw', $option{image} or give_up("could not open \"$option{image}\": $!");

# read_at FILE, OFFSET, LENGTH; shorter at the end of the file.
sub read_at
{
	my ($file, $offset, $length) = @_;
	my $bytes = '';
	sysseek $file, $offset, 0 or return '';
	while (length $bytes < $length)
	{
		my $got = sysread $file, $bytes, $length - length $bytes, length $bytes;
		last unless $got;
	}
	return $bytes;
}

# The same of the image.  Perl has no buffers with the alignment that O_DIRECT needs, and dd
# has.
sub read_image
{
	my ($offset, $length) = @_;
	$offset += $image_offset;
	return read_at($image, $offset, $length) unless $option{direct};
	open my $pipe, '-|', 'dd', "if=$option{image}", 'iflag=direct,skip_bytes,count_bytes,fullblock',
	  'bs=1M', "skip=$offset", "count=$length", 'status=none'
	  or give_up("could not start dd: $!");
	binmode $pipe;
	local $/;
	my $bytes = <$pipe>;
	close $pipe or give_up("dd could not read \"$option{image}\"");
	return $bytes // '';
}

# Extents of an open file: [offset in the file, offset on the device, length, flags].
sub extents
{
	my ($file) = @_;
	my $map = pack('Q Q L L L L', 0, ~0, 0, 0, EXTENTS, 0) . "\0" x (EXTENT_SIZE * EXTENTS);
	ioctl $file, FS_IOC_FIEMAP, $map or give_up("FIEMAP is refused here: $!");
	my $count = (unpack 'Q Q L L', $map)[3];
	return map { [ unpack 'Q Q Q x16 L', substr $map, HEADER_SIZE + EXTENT_SIZE * $_, EXTENT_SIZE ] }
	  0 .. $count - 1;
}

# What the device has of a part of a file.  Where it has no place for it, or holds something
# that does not count yet, these are zeros.
sub read_device
{
	my ($file, $from, $to) = @_;
	my $bytes = "\0" x ($to - $from);
	my $nowhere = FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNWRITTEN;
	for my $extent (extents($file))
	{
		my ($offset, $place, $length, $flags) = @$extent;
		my $begin = $offset > $from ? $offset : $from;
		my $end = $offset + $length < $to ? $offset + $length : $to;
		next if $begin >= $end || $flags & $nowhere;
		substr($bytes, $begin - $from, $end - $begin) =
		  read_image($place + $begin - $offset, $end - $begin);
	}
	return $bytes;
}

# ------------------------------------------------------------------- the checks

sub segment_path
{
	my ($timeline, $number) = @_;
	my $per_id = 2**32 / $segment_size;
	return sprintf '%s/%08X%08X%08X', $option{'wal-dir'}, $timeline, int($number / $per_id),
	  $number % $per_id;
}

# Positions of the pages in [FROM, TO) that the device does not have, after the number of
# those compared.  All of one segment.
sub unsynced_in_segment
{
	my ($timeline, $from, $to) = @_;
	my $number = int($from / $segment_size);
	my $start = $number * $segment_size;
	# recycled or removed meanwhile
	open my $file, '<:raw', segment_path($timeline, $number) or return 0;
	# The device first: what is synced between the two reads must not count as synced.
	my $on_device = read_device($file, $from - $start, $to - $start);
	my $in_cache = read_at($file, $from - $start, $to - $from);
	close $file;
	my ($compared, @unsynced) = (0);
	for (my $at = 0; $at + $page_size <= length $in_cache; $at += $page_size)
	{
		my $page = substr $in_cache, $at, $page_size;
		next if unpack('Q', substr $page, PAGE_ADDRESS, 8) != $from + $at;
		$compared++;
		push @unsynced, $from + $at if substr($on_device, $at, $page_size) ne $page;
	}
	return ($compared, @unsynced);
}

sub check
{
	my ($redo, $flushed, $timeline) =
	  ask(q(SELECT c.redo_lsn - '0/0', pg_current_wal_flush_lsn() - '0/0', c.timeline_id)
		. ' FROM pg_control_checkpoint() AS c');
	my $to = $flushed - $flushed % $page_size;
	my $from = $to - $option{window} * 1024 * 1024;
	$from = $since - $since % $page_size if $from < $since;
	my ($pages, @unsynced) = (0);
	while ($from < $to)
	{
		my $end = $from - $from % $segment_size + $segment_size;
		$end = $to if $end > $to;
		my ($compared, @found) = unsynced_in_segment($timeline, $from, $end);
		$pages += $compared;
		push @unsynced, @found;
		$from = $end;
	}
	return {
		pages => $pages,
		unsynced => scalar @unsynced,
		since_redo => scalar(grep { $_ + $page_size > $redo } @unsynced),
		behind => @unsynced ? $flushed - $unsynced[0] : 0,
	};
}

sub most
{
	my ($name, @checks) = @_;
	my $most = 0;
	for my $check (@checks)
	{
		$most = $check->{$name} if $check->{$name} > $most;
	}
	return $most;
}

my @checks;
for my $n (1 .. $option{checks})
{
	Time::HiRes::sleep($option{gap}) if $n > 1;
	my $check = check();
	push @checks, $check;
	printf STDERR "check %d: %d pages, %d unsynced, %d of them since the redo pointer\n",
	  $n, @$check{qw(pages unsynced since_redo)}
	  if $option{verbose};
}
close $questions;
waitpid $psql, 0;

my $pages = 0;
$pages += $_->{pages} for @checks;
give_up('no page of WAL to compare: the directory or the window is wrong') unless $pages;
my $bad = grep { $_->{unsynced} } @checks;
my @figures = (
	scalar @checks, $pages,
	$bad, most('unsynced', @checks) * $page_size / 1024,
	scalar(grep { $_->{since_redo} } @checks), most('since_redo', @checks) * $page_size / 1024,
	int(most('behind', @checks) / 1024));
if ($option{tsv})
{
	print join("\t", @figures), "\n";
}
else
{
	printf "%d checks of %d pages in all.\nWith flushed pages that are not on the device: %d"
	  . " (most at once %d kB, oldest %d kB behind the flush position).\n"
	  . "With such pages since the redo pointer: %d (most at once %d kB).\n",
	  @figures[0, 1, 2, 3, 6, 4, 5];
}
exit($bad ? 1 : 0);
