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
#	prepare_evidence_filesystems USER	# sets SP_TEST_EVIDENCE, see there
#	release_filesystems

fs_image_size=600M		# always in M
fs_image_written=
fs_names="ext4 xfs btrfs zfs tmpfs"
fs_seconds=60			# more than any of these commands needs: then it hangs
fs_mounts=()
fs_directories=()		# made outside of our folder
fs_attributes=()		# pairs: the usual value, and the attribute that must get it back
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

# fs_mount DIRECTORY ARGUMENTS...: mounts, and remembers for the end; before, as
# a signal may come in between.
fs_mount() {
	local directory=$1
	shift
	mkdir -p "$directory"
	fs_mounts+=("$directory")
	fs_try mount "$@" "$directory" || { unset 'fs_mounts[-1]'; return 1; }
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

# loop_attribute IMAGE NAME: where sysfs has it, of the device of a mounted image.
loop_attribute() {
	local device
	device=$(timeout -k 5 "$fs_seconds" losetup -n -O NAME -j "$1" \
		2>>"$fs_folder/log" </dev/null) || return
	[[ -n $device ]] && printf '/sys/class/block/%s/%s\n' "${device##*/}" "$2"
}

# set_attribute FILE VALUE: for a write that could wait for the device.
set_attribute() {
	# shellcheck disable=SC2016
	[[ $(<"$1") == "$2" ]] || fs_try "$BASH" -c 'printf "%s" "$2" >"$1"' bash "$1" "$2"
}

# A loop device keeps the setting of whoever used it before, and sends no flush
# with the wrong one.  Old kernels have none.
use_write_back() {
	local attribute
	attribute=$(loop_attribute "$1" queue/write_cache) || return
	[[ ! -e $attribute ]] || set_attribute "$attribute" "write back"
}

# make_image_filesystem NAME [TYPE]
# mount -o loop lets go of the loop device by itself with the unmount.
make_image_filesystem() {
	local name=$1 type=${2:-$1} image=$fs_folder/$1.img
	make_image "$image" || return
	fs_try "mkfs.$type" -q "$image" || return
	fs_mount "$fs_folder/$name" -t "$type" -o loop "$image" || return
	use_write_back "$image"
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
	fs_mounts+=(/zfs-kstat "$fs_folder/zfs")
	zfs-fuse --no-daemon >>"$fs_folder/log" 2>&1 </dev/null &
	fs_zfs_daemon=$!
	for ((tries = 0; tries < 50; tries++)); do
		[[ ! -S /run/zfs/zfs_socket ]] || break
		sleep 0.1
	done
	make_image "$fs_folder/zfs.img" || return
	mkdir -p "$fs_folder/zfs"
	fs_try zpool create -o cachefile=none -m "$fs_folder/zfs" "$pool" "$fs_folder/zfs.img" || return
	fs_try mountpoint "$fs_folder/zfs"
}

# Nobody needs the pool again, and zfs-fuse takes its time over SIGTERM.
end_zfs() {
	[[ -n $fs_zfs_daemon ]] || return 0
	kill -KILL "$fs_zfs_daemon" 2>/dev/null || true
	wait "$fs_zfs_daemon" 2>/dev/null || true
	fs_zfs_daemon=
}

# give OWNER PATH: to the tests alone.
give() {
	chown "$1:" "$2"
	chmod u=rwX,go= "$2"
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
			give "$owner" "$fs_folder/$name"
			SP_TEST_FILESYSTEMS+="${SP_TEST_FILESYSTEMS:+ }$name=$fs_folder/$name"
		else
			absent+=("$name")
			[[ $name != zfs ]] || end_zfs
		fi
	done
	((${#absent[@]} == 0)) || echo "Not possible here: ${absent[*]}." >&2
}

# ------------------------------------------ for tests of evidence only
#
# File systems whose syncs, names, sizes or owners are not as they should be.

make_nobarrier() {
	make_image_filesystem nobarrier ext4 || return
	fs_try mount -o remount,nobarrier "$fs_folder/nobarrier"
}

# make_with_attribute NAME ATTRIBUTE VALUE USUAL
# The setting outlives the mount, and the next user of the loop device would get
# it: it is noted before it is made, whatever happens in between.
make_with_attribute() {
	local attribute
	make_image_filesystem "$1" ext4 || return
	attribute=$(loop_attribute "$fs_folder/$1.img" "$2") || return
	[[ -e $attribute ]] || return
	fs_attributes+=("$4" "$attribute")
	set_attribute "$attribute" "$3"
}

make_write_through() {
	make_with_attribute write_through queue/write_cache "write through" "write back"
}

make_no_iostats() { make_with_attribute no_iostats queue/iostats 0 1; }

# Whatever a name may hold, not all of it valid in any encoding; the path that
# is given out is a plain one.
make_odd_name() {
	local name=$'odd "name\\ \303\050\n'
	make_image_filesystem "$name" ext4 || return
	ln -s "$name" "$fs_folder/odd_name"
}

# Where not all suites have room for files of their usual size.
make_small() { fs_mount "$fs_folder/small" -t tmpfs -o size=64M tmpfs; }

# Where writes fail long before the file system says that it is full.
make_quota() {
	make_image_filesystem quota btrfs || return
	fs_try btrfs quota enable "$fs_folder/quota" || return
	fs_try btrfs qgroup limit 40M "$fs_folder/quota"
}

# A directory that is not the tests' own, in one that is; its group may write.
make_foreign() {
	mkdir -p "$fs_folder/foreign/pg_wal" &&
		chgrp "$(id -g "$fs_owner")" "$fs_folder/foreign/pg_wal" && chmod 0770 "$fs_folder/foreign/pg_wal"
}

# make_node NAME IMAGE: fsync() on a descriptor of the device itself makes it
# flush, without a write, and needs no more than to read.  In a file system of
# our own, as that of our folder may refuse device nodes.
make_node() {
	local node=$fs_folder/devices/$1 attribute number
	attribute=$(loop_attribute "$2" dev) || return
	number=$(<"$attribute") || return
	mountpoint -q "$fs_folder/devices" ||
		fs_mount "$fs_folder/devices" -t tmpfs -o size=1M,mode=0755 tmpfs || return
	fs_try mknod -m 0600 "$node" b "${number%:*}" "${number#*:}" || return
	fs_try head -c 1 "$node"
}

make_ext4_device() { make_node ext4_device "$fs_folder/ext4.img"; }
make_nobarrier_device() { make_node nobarrier_device "$fs_folder/nobarrier.img"; }

# Only root may ask zfs-fuse; who else may, may do anything with our pool.
make_zfs_tools() { [[ -n $fs_zfs_daemon && -S /run/zfs/zfs_socket ]]; }

# prepare_evidence_filesystems USER: after prepare_filesystems.  Sets
# SP_TEST_EVIDENCE="nobarrier=/path nobarrier_device=/path ...".
prepare_evidence_filesystems() {
	local fs_owner=$1 name path absent=()
	export SP_TEST_EVIDENCE=
	[[ -n ${SP_PRIVATE_MOUNTS:-} ]] || return 0
	for name in nobarrier write_through no_iostats odd_name small quota foreign \
		ext4_device nobarrier_device zfs_tools; do
		case $name in
			*_device) path=$fs_folder/devices/$name ;;
			zfs_tools) path=/run/zfs/zfs_socket ;;
			*) path=$fs_folder/$name ;;
		esac
		if "make_$name"; then
			give "$fs_owner" "$path"
			SP_TEST_EVIDENCE+="${SP_TEST_EVIDENCE:+ }$name=$path"
		else
			absent+=("$name")
		fi
	done
	((${#absent[@]} == 0)) || echo "For tests of evidence, not possible here: ${absent[*]}." >&2
}

# While the device is ours: after the unmount it may be anybody's.
restore_attributes() {
	local i
	for ((i = 0; i < ${#fs_attributes[@]}; i += 2)); do
		set_attribute "${fs_attributes[i + 1]}" "${fs_attributes[i]}" ||
			echo "${fs_attributes[i + 1]} could not be set back to \"${fs_attributes[i]}\"." >&2
	done
	fs_attributes=()
}

# ------------------------------------------------------------------- the end

# Nothing may use the file systems any more.  Last mounted, first unmounted; a
# lazy unmount is for what a hanging process still holds.
release_filesystems() {
	local i
	[[ -n $fs_folder ]] || return 0
	restore_attributes
	end_zfs
	for ((i = ${#fs_mounts[@]} - 1; i >= 0; i--)); do
		fs_try umount "${fs_mounts[i]}" || fs_try umount -l "${fs_mounts[i]}" || true
	done
	fs_mounts=()
	((${#fs_directories[@]} == 0)) || rmdir "${fs_directories[@]}" 2>/dev/null || true
	fs_directories=()
	unset SP_TEST_FILESYSTEMS SP_TEST_EVIDENCE
}
