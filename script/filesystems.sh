# shellcheck shell=bash
# File systems to try a probe on: ext4, xfs, btrfs in sparse files behind loop
# devices, a ZFS pool by zfs-fuse, tmpfs.  All below one folder, all gone when
# release_filesystems returns.
#
# To be sourced, by root; fs_image_size, fs_image_written and fs_names may be
# set before prepare_filesystems.  What this machine cannot do (no loop devices in a
# container, no mkfs.btrfs, ...) is left out and said.
#
#	enter_private_mounts "$0" "$@"		# first of all; does not return the first time
#	prepare_filesystems FOLDER USER		# sets SP_TEST_FILESYSTEMS="ext4=/path xfs=/path ..."
#	release_filesystems

fs_image_size=600M		# always in M
fs_image_written=
fs_names="ext4 xfs btrfs zfs tmpfs"
fs_seconds=60			# more than any of these commands needs: then it hangs
fs_mounts=()
fs_directories=()		# made outside of our folder
fs_zfs_daemon=
fs_folder=

# In a mount namespace of its own nothing that is mounted here is seen, or kept
# busy, by anybody else, and even after SIGKILL the kernel unmounts all of it.
# As a slave it still follows when the machine unmounts something.
enter_private_mounts() {
	[[ -z ${SP_PRIVATE_MOUNTS:-} && $(id -u) == 0 ]] || return 0
	unshare --mount --propagation slave true 2>/dev/null || return 0
	SP_PRIVATE_MOUNTS=1 exec unshare --mount --propagation slave -- "$BASH" "$@"
}

# Runs a command with a limit and without a word; what it said is kept.
fs_try() { timeout -k 5 "$fs_seconds" "$@" >>"$fs_folder/log" 2>&1 </dev/null; }

# fs_mount DIRECTORY ARGUMENTS...: mounts, and remembers for the end.
fs_mount() {
	local directory=$1
	shift
	mkdir -p "$directory"
	fs_try mount "$@" "$directory" || return
	fs_mounts+=("$directory")
}

# Where times count an image is really written: in a sparse one each first write
# to a block is also a commit of the file system below.
make_image() {
	if [[ -n $fs_image_written ]]; then
		fs_try dd if=/dev/zero "of=$1" bs=1M "count=${fs_image_size%M}" conv=fsync
	else
		fs_try truncate -s "$fs_image_size" "$1"
	fi
}

# mount -o loop lets go of the loop device by itself with the unmount.
make_image_filesystem() {
	local name=$1 image=$fs_folder/$1.img
	make_image "$image" || return
	fs_try "mkfs.$name" -q "$image" || return
	fs_mount "$fs_folder/$name" -t "$name" -o loop "$image"
}

make_ext4() { make_image_filesystem ext4; }
make_xfs() { make_image_filesystem xfs; }
make_btrfs() { make_image_filesystem btrfs; }
make_tmpfs() { fs_mount "$fs_folder/tmpfs" -t tmpfs -o "size=$fs_image_size" tmpfs; }

# A zfs-fuse of our own, next to one that may run already: it locks and listens
# in two fixed directories, which are covered here.
make_zfs() {
	local directory pool=sync_probe_$$ tries
	command -v zfs-fuse >/dev/null && [[ -c /dev/fuse ]] || return
	for directory in /run/lock/zfs /run/zfs; do
		[[ -d $directory ]] || fs_directories+=("$directory")
		fs_mount "$directory" -t tmpfs -o size=1M tmpfs || return
	done
	# It mounts its statistics there, unasked.
	[[ -d /zfs-kstat ]] || fs_directories+=(/zfs-kstat)
	zfs-fuse --no-daemon >>"$fs_folder/log" 2>&1 </dev/null &
	fs_zfs_daemon=$!
	for ((tries = 0; tries < 50; tries++)); do
		[[ ! -S /run/zfs/zfs_socket ]] || break
		sleep 0.1
	done
	make_image "$fs_folder/zfs.img" || return
	mkdir -p "$fs_folder/zfs"
	fs_try zpool create -o cachefile=none -m "$fs_folder/zfs" "$pool" "$fs_folder/zfs.img" || return
	fs_mounts+=(/zfs-kstat "$fs_folder/zfs")
	fs_try mountpoint "$fs_folder/zfs"
}

# Nobody needs the pool again, and zfs-fuse takes its time over SIGTERM.
end_zfs() {
	[[ -n $fs_zfs_daemon ]] || return 0
	kill -KILL "$fs_zfs_daemon" 2>/dev/null || true
	wait "$fs_zfs_daemon" 2>/dev/null || true
	fs_zfs_daemon=
}

# prepare_filesystems FOLDER USER
prepare_filesystems() {
	local owner=$2 name absent=()
	export SP_TEST_FILESYSTEMS=
	fs_folder=$1
	mkdir -p "$fs_folder"
	if [[ -z ${SP_PRIVATE_MOUNTS:-} ]]; then
		echo "No file systems can be mounted here (needs root and a mount namespace)." >&2
		return
	fi
	for name in $fs_names; do
		if declare -F "make_$name" >/dev/null && "make_$name"; then
			chown "$owner:" "$fs_folder/$name"
			chmod 0700 "$fs_folder/$name"
			SP_TEST_FILESYSTEMS+="${SP_TEST_FILESYSTEMS:+ }$name=$fs_folder/$name"
		else
			absent+=("$name")
			[[ $name != zfs ]] || end_zfs
		fi
	done
	((${#absent[@]} == 0)) || echo "Not possible here: ${absent[*]}." >&2
}

# Nothing may use the file systems any more.  Last mounted, first unmounted; a
# lazy unmount is for what a hanging process still holds.
release_filesystems() {
	local i
	[[ -n $fs_folder ]] || return 0
	end_zfs
	for ((i = ${#fs_mounts[@]} - 1; i >= 0; i--)); do
		fs_try umount "${fs_mounts[i]}" || fs_try umount -l "${fs_mounts[i]}" || true
	done
	fs_mounts=()
	((${#fs_directories[@]} == 0)) || rmdir "${fs_directories[@]}" 2>/dev/null || true
	fs_directories=()
	unset SP_TEST_FILESYSTEMS
}
