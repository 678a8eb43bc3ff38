# File systems to try a probe on: ext4, xfs, btrfs in sparse files behind loop devices, a ZFS
# pool by zfs-fuse, tmpfs; and for tests of evidence those whose syncs or names are not as they
# should be.  All below one folder, all gone when release_filesystems returns.
#
# To be sourced, by root; fs_image_size, fs_image_written and fs_names may be set before
# prepare_filesystems.  What this machine cannot do (no loop devices in a container, no
# mkfs.btrfs, ...) is left out and said.
#
#	enter_private_mounts "$0" "$@"		# first of all; does not return the first time
#	prepare_filesystems FOLDER USER		# sets SP_TEST_FILESYSTEMS="ext4=/path xfs=/path ..."
#	prepare_evidence_filesystems USER	# sets SP_TEST_EVIDENCE="nobarrier=/path ..."
#	release_filesystems

fs_image_size=600M		# always in M
fs_image_written=
fs_names="ext4 xfs btrfs zfs tmpfs"
fs_statistics=			# is /zfs-kstat, of zfs-fuse, ours?
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

# Runs a command without a word; what it said is kept.  After a minute it hangs.
fs_try() { timeout -k 5 60 "$@" >>"$fs_folder.log" 2>&1 </dev/null; }

# fs_mount DIRECTORY ARGUMENTS...
fs_mount() {
	mkdir -p "$1"
	fs_try mount "${@:2}" "$1"
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

# set_attribute IMAGE NAME VALUE: of the loop device of a mounted image, for a write that could
# wait for the device.
set_attribute() {
	local device file
	device=$(losetup -n -O NAME -j "$1") && file=/sys/class/block/${device##*/}/$2 &&
		[[ -e $file ]] || return
	[[ $(<"$file") == "$3" ]] || fs_try "$BASH" -c 'printf "%s" "$2" >"$1"' bash "$file" "$3"
}

# A loop device keeps the setting of whoever used it before, and sends no flush with the wrong one.
use_write_back() { set_attribute "$1" queue/write_cache "write back"; }

# make_image_filesystem NAME [TYPE]: the unmount lets go of the loop device by itself.
make_image_filesystem() {
	local name=$1 type=${2:-$1} image=$fs_folder/$1.img
	make_image "$image" && fs_try "mkfs.$type" -q "$image" &&
		fs_mount "$fs_folder/$name" -t "$type" -o loop "$image" && use_write_back "$image"
}

# A zfs-fuse of our own, next to one that may run already: it locks and listens in two fixed
# directories, which are covered here, and mounts its statistics in a third.  The two stay in /run:
# to remove them would end the mounts that other runs have on them.
make_zfs() {
	local directory tries
	command -v zfs-fuse >/dev/null && [[ -c /dev/fuse ]] || return
	for directory in /run/lock/zfs /run/zfs; do
		fs_mount "$directory" -t tmpfs -o size=1M tmpfs || return
	done
	[[ -d /zfs-kstat ]] || fs_statistics=1
	zfs-fuse --no-daemon >>"$fs_folder.log" 2>&1 </dev/null &
	fs_zfs_daemon=$!
	for ((tries = 0; tries < 50; tries++)); do
		[[ -S /run/zfs/zfs_socket ]] || sleep 0.1
	done
	mkdir -p "$fs_folder/zfs"
	make_image "$fs_folder/zfs.img" && fs_try zpool create -o cachefile=none \
		-m "$fs_folder/zfs" "sync_probe_$$" "$fs_folder/zfs.img" &&
		fs_try mountpoint "$fs_folder/zfs" || { end_zfs; return 1; }
}

# Nobody needs the pool again, and zfs-fuse takes its time over SIGTERM.
end_zfs() {
	[[ -n $fs_zfs_daemon ]] || return 0
	kill -KILL "$fs_zfs_daemon" 2>/dev/null || true
	wait "$fs_zfs_daemon" 2>/dev/null || true
	fs_zfs_daemon=
	[[ -z $fs_statistics ]] || { fs_try umount -l /zfs-kstat; fs_try rmdir /zfs-kstat; } || true
	fs_statistics=
}

# make_node NAME: fsync() on a descriptor of the device of another one makes that flush, without
# a write, and needs no more than to read.  In a file system of our own, as that of our folder
# may refuse device nodes.
make_node() {
	local node=$fs_folder/devices/$1 number
	IFS=': ' read -ra number < <(losetup -n -O MAJ:MIN -j "$fs_folder/${1%_device}.img") || return
	mountpoint -q "$fs_folder/devices" ||
		fs_mount "$fs_folder/devices" -t tmpfs -o size=1M,mode=0755 tmpfs || return
	fs_try mknod -m 0600 "$node" b "${number[@]}" && fs_try head -c 1 "$node"
}

# make_filesystem NAME: or what else has a name here; sets path.  Other names have a function
# of the caller's.
make_filesystem() {
	local name=$1 odd=$'odd "name\\ \303\050\n'
	path=$fs_folder/$name
	case $name in
		ext4 | xfs | btrfs) make_image_filesystem "$name" ;;
		tmpfs) fs_mount "$path" -t tmpfs -o "size=$fs_image_size" tmpfs ;;
		nobarrier) make_image_filesystem nobarrier ext4 &&
			fs_try mount -o remount,nobarrier "$path" ;;
		# these settings outlive the mount, and release_filesystems sets them back
		write_through) make_image_filesystem "$name" ext4 &&
			set_attribute "$path.img" queue/write_cache "write through" ;;
		no_iostats) make_image_filesystem "$name" ext4 &&
			set_attribute "$path.img" queue/iostats 0 ;;
		# whatever a name may hold, not all of it valid in any encoding; given out is a plain one
		odd_name) make_image_filesystem "$odd" ext4 && ln -s "$odd" "$path" ;;
		*_device) path=$fs_folder/devices/$name && make_node "$name" ;;
		# only root may ask zfs-fuse; who else may, may do anything with our pool
		zfs_tools) path=/run/zfs/zfs_socket && [[ -n $fs_zfs_daemon && -S $path ]] ;;
		*) declare -F "make_$name" >/dev/null && "make_$name" ;;
	esac
}

# make_filesystems VARIABLE USER NAME...: for that user alone; exports VARIABLE="NAME=PATH ...".
make_filesystems() {
	local variable=$1 owner=$2 name path made='' absent=()
	for name in "${@:3}"; do
		if [[ -n ${SP_PRIVATE_MOUNTS:-} ]] && make_filesystem "$name"; then
			chown "$owner:" "$path"
			chmod u=rwX,go= "$path"
			made+="${made:+ }$name=$path"
		else
			absent+=("$name")
		fi
	done
	((${#absent[@]} == 0)) ||
		echo "Not possible here (needs root, a mount namespace and tools): ${absent[*]}." >&2
	export "$variable=$made"
}

prepare_filesystems() {
	fs_folder=$1
	mkdir -p "$fs_folder"
	# one mount with all others below it
	[[ -z ${SP_PRIVATE_MOUNTS:-} ]] || mount --bind "$fs_folder" "$fs_folder"
	make_filesystems SP_TEST_FILESYSTEMS "$2" $fs_names
}

prepare_evidence_filesystems() {
	make_filesystems SP_TEST_EVIDENCE "$1" nobarrier write_through no_iostats odd_name \
		nobarrier_device zfs_tools
}

# Nothing may use the file systems any more.  Attributes first: after the unmount the device may
# be anybody's.  A lazy unmount is for what a hanging process still holds.
release_filesystems() {
	local image
	[[ -n $fs_folder ]] || return 0
	for image in "$fs_folder"/{write_through,no_iostats}.img; do
		[[ -e $image ]] || continue
		use_write_back "$image" && set_attribute "$image" queue/iostats 1 ||
			echo "The device of $image could not be set back." >&2
	done
	end_zfs
	fs_try umount -R "$fs_folder" || fs_try umount -R -l "$fs_folder" || true
	unset SP_TEST_FILESYSTEMS SP_TEST_EVIDENCE
	fs_folder=
}
