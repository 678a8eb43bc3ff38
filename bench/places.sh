# shellcheck shell=bash
# Places that only benches need, made when BENCH_PLACES names them.
#
#	ext4_minimal	ext4, and a cluster that opens WAL with O_DIRECT for open_*
#	slow			ext4 on a disk whose flushes take 3 ms
#	tailed			ext4 on a disk whose flushes take 0.3 ms, and 3 % of them 5 ms more
#
# To be sourced after script/filesystems.sh, whose functions make a place by its name.
# The slow disks are slow_disk.c behind a loop device: they need /dev/fuse.

slow_disks=()				# processes
slow_disk_memory_mb=3072	# free memory for all of them; each takes what is written to it

# What the cluster of a place is told besides bench_settings.
declare -A place_settings=([ext4_minimal]="
wal_level = minimal
max_wal_senders = 0
")

make_ext4_minimal() { make_image_filesystem ext4_minimal ext4; }
make_slow() { make_slow_disk slow 3000 0 0; }
make_tailed() { make_slow_disk tailed 300 3 5000; }

has_libfuse() { [[ -f /usr/include/fuse3/fuse.h ]]; }

# libfuse is installed like the other packages, but only for these places.
require_places() {
	[[ " $1 " == *" slow "* || " $1 " == *" tailed "* ]] && ! has_libfuse || return 0
	[[ $(id -u) == 0 ]] && command -v apt-get >/dev/null || return 0
	say "Installing: libfuse3-dev"
	apt_get update || true
	apt_get install --no-install-recommends libfuse3-dev ||
		say "libfuse3-dev cannot be installed here: slow and tailed will be left out"
}

build_slow_disk() {
	local program=$fs_folder/slow_disk
	[[ ! -x $program ]] || return 0
	has_libfuse && fs_try cc -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Wall -Wextra -Werror \
		-O2 -I/usr/include/fuse3 "$root/bench/slow_disk.c" -lfuse3 -o "$program"
}

has_memory() {
	awk -v "needed=$slow_disk_memory_mb" \
		'$1 == "MemAvailable:" { enough = $2 / 1024 >= needed } END { exit !enough }' /proc/meminfo
}

# make_slow_disk NAME FLUSH_US TAIL_PERCENT TAIL_US
make_slow_disk() {
	local name=$1 directory=$fs_folder/$1_device tries
	shift
	[[ -c /dev/fuse ]] && has_memory && build_slow_disk || return
	mkdir -p "$directory"
	"$fs_folder/slow_disk" "$directory" "${fs_image_size%M}" "$@" \
		>>"$fs_folder.log" 2>&1 </dev/null &
	slow_disks+=("$!")
	for ((tries = 0; tries < 50; tries++)); do
		! fs_try test -f "$directory/disk" || break
		sleep 0.1
	done
	fs_try mkfs.ext4 -q "$directory/disk" || return
	fs_mount "$fs_folder/$name" -t ext4 -o loop "$directory/disk" || return
	use_write_back "$directory/disk"
}

# After release_filesystems: with its file system a process is gone, unless that hung.
end_slow_disks() {
	local process
	((${#slow_disks[@]} > 0)) || return 0
	for process in "${slow_disks[@]}"; do
		kill -KILL "$process" 2>/dev/null || true
		wait "$process" 2>/dev/null || true
	done
	slow_disks=()
}
