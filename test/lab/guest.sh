#!/bin/bash
# The first process of the laboratory's guest: builds a stack, runs tests in a cluster on it, and
# cuts the power.
#
# The kernel's command line says which: lab.stack=NAME (a row of stacks), lab.tests=sysfs,works,
# power,leftovers,device,cuts (the last one ends with disks after a cut), lab.cuts=NUMBER,
# lab.lies=1.  Results are TAP, on the second serial line.  The last disk is the control of
# volatile_disks.c.
#
# A cut is a copy of what is on the disks at that moment.  When all are made, each in turn becomes
# the contents of the disks, as after a restart: nothing of the stack is in use then.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin:/opt/server LANG=C.UTF-8 PGHOST=/run PGUSER=postgres
shopt -s nullglob
lab=/lab data=/data/pg

# The initial file system has mounted /proc, /sys and /dev.
start_guest() {
	mkdir -p /dev/pts /dev/shm
	mount -t devpts devpts /dev/pts
	for each in /dev/shm /tmp /run; do mount -t tmpfs -o mode=1777 tmpfs "$each"; done
	exec </dev/null >/dev/console 2>&1
	stty -F /dev/ttyS1 raw -echo
	exec 3>/dev/ttyS1
	ip link set lo up
	modprobe -qa virtio_blk virtio_scsi sd_mod nvme md_mod raid0 raid1 raid10 raid456 dm_mod \
		dm_crypt dm_delay dm_flakey dm_multipath dm_round_robin loop xfs btrfs ext4 zfs
	sleep 1
	[[ ! -e /dev/zfs ]] || chmod 666 /dev/zfs
}

# ---------------------------------------------------------------- results

test_number=0

# result STATUS NAME [WHY-NOT]
result() {
	local word=ok
	(($1 == 0)) || word="not ok"
	printf '%s %d - %s: %s\n' "$word" "$((++test_number))" "$stack" "$2" >&3
	[[ -z ${3:-} || $1 == 0 ]] || printf '%s\n' "$3" | sed 's/^/# /' >&3
	return "$1"
}

# is GOT EXPECTED NAME
is() {
	[[ $1 == "$2" ]]
	result $? "$3" "got \"$1\", expected \"$2\""
}

# succeeds NAME COMMAND...
succeeds() {
	"${@:2}" >/run/output 2>&1
	result $? "$1" "$(</run/output)"
}

# ------------------------------------------------------------- the stack

read_stack() {
	IFS='|' read -r _ _ layers filesystem options method durable findings < <(
		sed -n "s/ *| */|/g; /^$stack|/p" "$lab/stacks")
	disks=(/dev/vd[b-z])
	control=${disks[-1]}
	unset 'disks[-1]'
	disks+=(/dev/nvme*n1 /dev/sd?)
	# zpool would wait for udev to make partitions: of these only the kernel knows
	[[ $stack != z* ]] || for i in "${!disks[@]}"; do
		addpart "${disks[i]}" 1 2048 $(($(blockdev --getsz "${disks[i]}") - 2048))
		disks[i]+=1
	done
}

# Each layer: LAYER make|start; takes and gives $devices.  stop_stack() ends them.
layer_md() {
	case $1 in
		make) mdadm --create /dev/md0 --run "--level=$options" "--raid-devices=${#devices[@]}" \
			--assume-clean --metadata=1.2 "${devices[@]}" ;;
		start) mdadm --assemble --run /dev/md0 "${devices[@]}" ;;
	esac
	devices=(/dev/md0)
}

layer_lvm() {
	case $1 in
		make) echo "activation { udev_sync=0 udev_rules=0 } devices { use_devicesfile=0 }" \
				>/etc/lvm/lvmlocal.conf
			lvm vgcreate -q -y lab "${devices[@]}"
			lvm lvcreate -q -y -Wn -n data -l 100%FREE \
				$([[ $options != striped ]] || echo "-i ${#devices[@]}") lab ;;
		start) lvm vgchange -ay lab ;;
	esac
	devices=(/dev/mapper/lab-data)
}

layer_crypt() {
	echo "a key for the laboratory alone" | cryptsetup open --type plain \
		--cipher aes-xts-plain64 --key-size 256 --key-file - "${devices[0]}" lab
	devices=(/dev/mapper/lab)
}

# The options name the file system of the file.
layer_loop() {
	[[ $1 != make ]] || "mkfs.${options:-ext4}" -q "${devices[0]}" || return
	mount "${devices[0]}" /below || return
	[[ $1 != make ]] || fallocate -l 800M /below/image
	losetup /dev/loop0 /below/image
	devices=(/dev/loop0)
}

# The server is this machine, which is supported for nothing but tests.
layer_nfs() {
	[[ $1 != make ]] || mkfs.ext4 -q -F "${devices[0]}"
	mount "${devices[0]}" /below
	if ! mountpoint -q /proc/fs/nfsd; then
		modprobe nfsd
		mount -t nfsd nfsd /proc/fs/nfsd
		rpc.mountd -N 3
	fi
	echo 1 >/proc/fs/nfsd/nfsv4leasetime
	echo 1 >/proc/fs/nfsd/nfsv4gracetime
	exportfs -o rw,no_root_squash,no_subtree_check,sync,fsid=0 localhost:/below
	rpc.nfsd -N 3 4
	devices=(localhost:/)
}

layer_multipath() {
	local table="multipath 0 0 1 1 round-robin 0 2 1 ${devices[0]} 1000 ${devices[1]} 1000"
	dmsetup create --noudevsync --uuid mpath-lab lab \
		--table "0 $(blockdev --getsz "${devices[0]}") $table" && dmsetup mknodes lab
	devices=(/dev/mapper/lab)
}

# Devices whose behavior changes: that of the cluster, and one for a tablespace; see becomes().
layer_faulty() {
	local i
	for i in 0 1; do
		dmsetup create --noudevsync "lab$i" --table "$(whole_disk "$i" linear 0)" || return
	done
	dmsetup mknodes
	[[ $1 != make ]] || mkfs.ext4 -q -F /dev/mapper/lab1
	mount /dev/mapper/lab1 /below
	devices=(/dev/mapper/lab0)
}

# whole_disk NUMBER TARGET ARGUMENTS: a table of the device mapper.
whole_disk() { echo "0 $(blockdev --getsz "${disks[$1]}") $2 ${disks[$1]} ${*:3}"; }

# becomes NUMBER TARGET ARGUMENTS: what layer_faulty's disk does from now on.
becomes() {
	dmsetup load "lab$1" --table "$(whole_disk "$@")" &&
		dmsetup resume --noudevsync --noflush --nolockfs "lab$1"
}

# Names of devices for zpool.
layer_mirror() { devices=(mirror "${devices[@]}"); }
layer_log() { devices=("${devices[0]}" log "${devices[1]}"); }

layer_zvol() {
	case $1 in
		make) /lib/systemd/systemd-udevd --daemon
			zpool create -f -o ashift=12 -m none tank "${devices[@]}"
			zfs create -s -V 800M -o volblocksize=8k tank/data ;;
		start) zpool import -f -d /dev tank ;;
	esac
	devices=(/dev/zvol/tank/data)
	zvol_wait
}

make_filesystem() {
	case $filesystem in
		btrfs) mkfs.btrfs -q -f ${options:+-d "$options" -m "$options"} "${devices[@]}" ;;
		zfs) zpool create -f -o ashift=12 -O atime=off ${options:+-O "$options"} -m /data tank \
			"${devices[@]}" ;;
		ext4) mkfs.ext4 -q -F "${devices[0]}" ;;
		xfs) mkfs.xfs -q -f "${devices[0]}" ;;
	esac
}

mount_filesystem() {
	case $filesystem in
		zfs) [[ $1 == make ]] || zpool import -f -d /dev tank ;;
		nfs4) mount -t nfs4 -o "${options:-hard}" "${devices[0]}" /data ;;
		btrfs) btrfs device scan "${devices[@]}" && mount "${devices[0]}" /data ;;
		*) mount ${mount_options:+-o "$mount_options"} "${devices[0]}" /data ;;
	esac
}

# stack_step make|start
stack_step() {
	mount_options=
	[[ -n $layers || $filesystem == btrfs ]] || mount_options=$options
	devices=("${disks[@]}")
	for layer in $layers; do "layer_$layer" "$1" || return; done
	[[ $1 != make ]] || make_filesystem || return
	mount_filesystem "$1"
}

# From the file system down, whatever there is.
stop_stack() {
	# pg_ctl stop returns before the postmaster, whose directory this is, has ended
	until ! mountpoint -q /data || umount /data; do sleep 0.1; done
	losetup -D
	[[ $layers != nfs ]] || { rpc.nfsd 0; exportfs -ua; }
	! mountpoint -q /below || umount /below
	dmsetup remove_all --noudevsync
	mdadm --stop --scan
	[[ $stack != z* ]] || zpool export -f tank
	for each in "${disks[@]}"; do blockdev --flushbufs "$each"; done
}

# ------------------------------------------------------------ the cluster

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; }
sql() { as_postgres psql -XAtq -v ON_ERROR_STOP=1 -d postgres "$@"; }

make_cluster() {
	install -d -o postgres -m 700 "$data"
	as_postgres initdb -N -A trust -E UTF8 --locale=C -D "$data" >/dev/null
	cat >>"$data/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '/run'
		wal_sync_method = $method
		shared_buffers = 32MB
		min_wal_size = 64MB
		max_wal_size = 128MB
		checkpoint_timeout = 1h
	END
	start_cluster
}

start_cluster() { as_postgres pg_ctl -s -w -t 600 -D "$data" -l /run/log start; }
stop_cluster() { as_postgres pg_ctl -s -w -t 600 -m immediate -D "$data" stop; }

loads=()				# processes that use the cluster, or watch it

# Sessions must have ended before: what writes their statements is waited for, too.
stop_loads() {
	((${#loads[@]} == 0)) || { kill "${loads[@]}"; wait "${loads[@]}"; }
	loads=()
}

# ------------------------------------------------------------------ tests

works() {
	local device=''			# that of a pool is not named
	[[ $filesystem == zfs ]] || device=$(lsblk -ndo KNAME "${devices[0]}")
	sql -v durable="$durable" -v findings="$findings" -v device="$device" \
		-v filesystem="$filesystem" -v method="$method" -f "$lab/works.sql" >/run/works 2>&1
	local status=$? line
	while read -r line; do
		case $line in
			"ok - "* | "not ok - "*) [[ $line == ok* ]]; result $? "${line#*ok - }" ;;
			*) printf '# %s\n' "$line" >&3 ;;
		esac
	done </run/works
	result $status "all statements ran"
	[[ $filesystem != zfs ]] || pool
}

# The files that a probe reads about this stack, as text for unit tests (test/unit/tree.h).
sysfs() {
	local device name
	{
		echo "proc/self/mountinfo:"
		grep -E '^([^ ]* ){4}(/|/data|/below) ' /proc/self/mountinfo | sed 's/^/\t/'
		for device in /sys/class/block/*; do
			[[ $(<"$device/size") != 0 ]] || continue
			name=${device##*/}
			[[ ! -e $device/partition ]] || name=$(basename "$(realpath "$device/..")")/$name
			echo "device $(cat "$device/dev" 2>/dev/null || echo -) $name"
			(cd "$device" && grep -Hs '' partition dm/{name,uuid} md/level loop/backing_file \
				device/{model,vendor} queue/{fua,iostats,rotational,write_cache} stat) |
				sed -E 's/: */: /; s/ +/ /g; s/ $//; s/^/\t/'
			find "$device/slaves/" -type l -printf '\tslaves/%f -> %f\n' 2>/dev/null
		done
		[[ $filesystem != zfs ]] || { zfs get -Hp all tank; zpool status -P tank; }
	} | sed 's/^/# > /' >&3
	result 0 "sysfs"
}

# What OpenZFS itself says beside a probe.
pool() {
	local ours theirs
	is "$(sql -c "SELECT storage->'zfs'->>'sync', storage->'zfs'->>'logbias',
			storage->'zfs'->>'recordsize' FROM sync_probe.runs LIMIT 1")" \
		"$(zfs get -Hpo value sync,logbias,recordsize tank | paste -sd '|')" "properties"
	is "$(sql -c "SELECT value FROM sync_probe.runs, jsonb_array_elements_text(
				storage->'zfs'->'data_devices' || (storage->'zfs'->'log_devices')) AS value
			WHERE run_id = 1 ORDER BY value")" \
		"$(zpool status -P tank | grep -o '/dev/[a-z0-9]*' | sort)" "devices of zpool status"
	zpool iostat -Hpy tank 1 >/run/iostat &
	loads=($!)
	ours=$(sql -c "SELECT round(sum(ops * (
			storage #>> ARRAY['device_bytes_per_op', ordinal::text])::float8))
		FROM (SELECT (run).storage, (measured).*
			FROM sync_probe_internal.probe_run('pg_wal', 'wal', duration => '10 s')) AS m")
	stop_loads
	theirs=$(awk '{ bytes += $7 } END { printf "%d", bytes }' /run/iostat)
	((ours > 0 && ours <= theirs * 11 / 10)) || [[ $durable == no ]]
	result $? "bytes written: $ours counted in the time of measuring, $theirs by zpool iostat"
}

clients=4

# The newest number of each client that was acknowledged: in memory, written by psql.
acknowledged() { tail -qn 1 /run/acknowledged.* | paste -sd ,; }

# lost NUMBERS: how many of the commits that were acknowledged until then are missing.
lost() {
	sql -c "SELECT sum(last - (SELECT count(*) FROM acknowledged AS a
			WHERE a.client = c.client AND n <= last))
		FROM unnest('{$1}'::int[]) WITH ORDINALITY AS c (last, client)"
}

command_disks() { printf '%s\0' "$1" | dd "of=$control" bs=512 conv=sync oflag=direct status=none; }

start_load() {
	local client
	sql -c 'CREATE TABLE acknowledged (client int, n int, PRIMARY KEY (client, n), pad text)' ||
		return
	loads=()
	for ((client = 1; client <= clients; client++)); do
		seq -f "INSERT INTO acknowledged VALUES ($client, %.0f, repeat('x', 300)) RETURNING n;" \
			inf | PGAPPNAME=load sql >"/run/acknowledged.$client" 2>/dev/null &
		loads+=($!)
	done
	while sleep 7; do sql -c CHECKPOINT; done &
	loads+=($!)
	until [[ $(acknowledged | tr , '\n' | wc -l) == "$clients" ]]; do sleep 0.2; done
}

# Ends the load, whose every acknowledged commit must be there.
end_load() {
	sql -c "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
		WHERE application_name = 'load'" >/run/output
	stop_loads
	is "$(lost "$(acknowledged)")" 0 "no commit is lost: $(acknowledged)"
}

# Ends what runs, and lets go of the disks.
end_everything() {
	stop_cluster
	stop_loads
	stop_stack
}

# restart CUT: the disks are as that cut left them.
restart() {
	command_disks "load $1"
	{ stack_step start && start_cluster; } || { tail -n 20 /run/log | sed 's/^/# /' >&3; return 1; }
}

# Half of the cuts lose all that was not flushed, the others keep a part of it.
cuts() {
	local i failed=0
	[[ -z $lies ]] || command_disks lie
	succeeds "a load begins" start_load || return
	for ((i = 1; i <= cuts; i++)); do
		sleep "$((RANDOM % 3)).$((RANDOM % 10))"
		acknowledged >"/run/cut.$i"
		command_disks "cut $i $((i % 2 * 50))"
	done
	end_everything
	for ((i = 1; i <= cuts; i++)); do
		after_cut "$i" || failed=$((failed + 1))
	done
	printf '# %s: %d of %d cuts lost commits; durable: %s%s\n' "$stack" "$failed" \
		"$cuts" "$durable" "${lies:+, by a cache that lies}" >&3
	if [[ -n $lies || $durable == no ]]; then
		((failed > 0))
		result $? "cuts lose commits"
	else
		is "$failed" 0 "cuts that lose a commit"
	fi
}

# after_cut NUMBER: are all acknowledged commits there?
after_cut() {
	local numbers missing
	numbers=$(<"/run/cut.$1")
	if restart "$1"; then
		missing=$(lost "$numbers") || missing="the table"
		as_postgres pg_amcheck -d postgres -t acknowledged -s pg_catalog >/run/output 2>&1 ||
			missing+=", and pg_amcheck finds damage"
	else
		missing="the cluster"; : >/run/output
	fi
	end_everything
	printf '# %s: cut %s, acknowledged %s, lost: %s\n' "$stack" "$1" "$numbers" "$missing" >&3
	[[ $missing == 0 ]] || { tail -n 20 /run/output | sed 's/^/# /' >&3; return 1; }
}

# shows_numbers COUNT: until power_test() has shown so many more, or has ended.
shows_numbers() {
	local shown
	shown=$(grep -c synced /run/power)
	until (($(grep -c synced /run/power) >= shown + $1)) || ! kill -0 "${loads[0]}"; do
		sleep 0.2
	done
}

# What power_test() says of an honest cache, and of one that begins to lie.
power() {
	local number expected verdict
	command_disks "cut before 100"
	for expected in proven refuted; do
		sql -c 'CALL sync_probe.power_test()' 2>/run/power &
		loads=($!)
		shows_numbers 5
		[[ $expected == proven ]] || command_disks lie
		shows_numbers 5
		number=$(grep -o '[0-9]* is synced' /run/power | tail -n 1)
		command_disks "cut power 0"
		end_everything
		cat /proc/sys/kernel/random/uuid >/run/boot_id		# the guest was not started again
		mount --bind /run/boot_id /proc/sys/kernel/random/boot_id
		if restart power; then
			verdict=$(sql -F ' ' -c "SELECT durable, reason
				FROM sync_probe.power_test_result(${number%% *})" 2>&1)
		else
			verdict="refuted: the cluster does not start"
		fi
		[[ $durable != no ]] || expected=refuted
		is "${verdict%%[: ]*}" "$expected" "power_test: $verdict"
		end_everything
		restart before
	done
}

# What a trial and a probe leave behind at a cut, if a cluster is left.
leftovers() {
	local call
	[[ $durable != no ]] || return
	for call in "CALL sync_probe.trial('commit_delay', '{50}', '1 min', workload => 'upsert')" \
		"SELECT FROM sync_probe.probe(duration => '1 min')"; do
		sql -c "$call" 2>/dev/null >&2 &
		loads=($!)
		until [[ $(sql -c 'SELECT count(*) FROM sync_probe.running') == 1 ]] ||
			! kill -0 "${loads[0]}"; do
			sleep 1
		done
		sleep "$((RANDOM % 10))"
		is "$(sql -c 'SELECT count(*) FROM sync_probe.running')" 1 "it runs: ${call%%(*}"
		command_disks "cut leftovers 50"
		end_everything
		succeeds "the cluster starts after ${call%%(*}" restart leftovers
		sql -c 'SELECT sync_probe.cleanup()' >/dev/null
		is "$(sql -c 'SHOW commit_delay')" 0 "commit_delay is as before"
		is "$(find "$data" -name '*sync_probe*' -not -name '*.power_test')" "" "no file is left"
	done
}

# Calls that write, with this duration.  The suite commit refuses to run beside a load.
calls_of() {
	local suite
	for suite in wal segments stream commit; do
		[[ $suite == commit && ${#loads[@]} != 0 ]] ||
			echo "SELECT DISTINCT status FROM sync_probe.probe('pg_wal', '$suite', '$1')"
	done
	echo "SELECT transactions > 0 FROM sync_probe.pgbench('upsert', duration => '$1', rows => 1000)"
	echo "CALL sync_probe.trial('commit_delay', '{50}', '$1')"
	echo "CALL sync_probe.power_test('pg_wal', '$1')"
}

# begin_call SQL: process $call, backend $call_pid; it may have ended.
begin_call() {
	PGAPPNAME=call sql -v VERBOSITY=verbose -c "$1" >/run/call 2>&1 &
	call=$! call_pid=
	until [[ -n $call_pid ]]; do
		kill -0 "$call" || return
		call_pid=$(sql -c "SELECT pid FROM pg_stat_activity
			WHERE application_name = 'call' AND EXISTS (SELECT FROM sync_probe.running)")
	done
}

await_call() {
	timeout 120 tail "--pid=$call" -f /dev/null || kill -KILL "$call"
	wait "$call"
}

# What calls that have ended must not leave; a trial, its commit_delay.
nothing_left() {
	is "$(find "$data" /below -name '*sync_probe*' -not -name '*.power_test'
		grep PANIC /run/log
		sql -c "SELECT * FROM sync_probe.running" -c "SHOW commit_delay" \
			-c "SELECT nspname FROM pg_namespace WHERE nspname ~ '^sync_probe_workload'")" \
		0 "$1: nothing is left, nothing has panicked"
}

# A device that is slow, hangs, fails or is full.
device() {
	[[ $layers == faulty ]] || return 0
	succeeds "a load begins" start_load || return
	slow_device
	hung_device
	failing_device
	full_device
	slow_device "'commit'"
	hung_device "'commit'"
}

# slow_device [PATTERN of calls]
slow_device() {
	local each begin
	succeeds "the device becomes slow" becomes 0 delay 0 0 "${disks[0]}" 0 50
	while read -ru 4 each; do
		begin=$SECONDS
		succeeds "a write takes 50 ms: ${each#*sync_probe.}" sql -c "$each"
		printf '# of 5 s: %d s\n' $((SECONDS - begin)) >&3
	done 4< <(calls_of '5 s' | grep "${1:-}")
	succeeds "the device is fast again" becomes 0 linear 0
	nothing_left "a slow device"
}

# What is canceled meanwhile ends when the device moves again.
hung_device() {
	local each how
	local -A stop=([suspend]="dmsetup suspend --nolockfs --noflush lab0"
		[freeze]="fsfreeze -f /data")
	local -A go=([suspend]="dmsetup resume --noudevsync lab0" [freeze]="fsfreeze -u /data")
	while read -ru 4 each; do
		for how in suspend freeze; do
			begin_call "$each"
			sleep 2
			${stop[$how]} || result 1 "$how"
			sleep 2
			[[ -z $call_pid ]] || kill -INT "$call_pid"
			sleep 2
			${go[$how]} || result 1 "the end of $how"
			await_call
			grep -q 'ERROR:  57014' /run/call
			result $? "$how, canceled: ${each#*sync_probe.}" "$(</run/call)"
		done
	done 4< <(calls_of '5 min' | grep "${1:-}")
	nothing_left "a hung device"
}

# Below a tablespace, as the server itself stops when it cannot write WAL.
failing_device() {
	local suite fault
	install -d -o postgres /below/faulty
	sql -c "CREATE TABLESPACE faulty LOCATION '/below/faulty'"
	for fault in "1 error_writes" ""; do
		for suite in wal pg_test_fsync stream; do
			begin_call "SELECT DISTINCT status FROM sync_probe.probe('faulty', '$suite', '20 s')"
			sleep 3
			# shellcheck disable=SC2086
			becomes 1 flakey 0 0 3600 $fault
			await_call
			grep -E '^error$|^ERROR:  (53|58)' /run/call >/run/output
			result $? "it fails with ${fault:-all}: $suite: $(paste -sd ' ' /run/output)" \
				"$(</run/call)"
			# its journal was given up, and no file could be removed
			umount /below && becomes 1 linear 0 && mount /dev/mapper/lab1 /below
			result $? "the device is sound again"
			sql -c 'SELECT sync_probe.cleanup()' >/dev/null
			nothing_left "a failed device, after cleanup()"
		done
	done
}

# leave_free EIGHTHS of $reserve, on the disk of the cluster.
leave_free() {
	local free
	rm -f /data/filler
	free=$(df --output=avail -B 1 /data | tail -n 1)
	fallocate -l $((free - reserve * $1 / 8)) /data/filler
}

# A slot holds back more WAL than max_wal_size, so that the reserve is four segments; then the
# free space shrinks step by step.
full_device() {
	local each eighths failed reserve=$((64 << 20))
	sql -c "SELECT pg_create_physical_replication_slot('idle', true)" -c "SELECT
		count(pg_logical_emit_message(false, 'lab', repeat('x', 1000000)))
		FROM generate_series(1, 150)" \
		-c "INSERT INTO sync_probe.workloads (workload, script) VALUES ('wal',
			'SELECT pg_logical_emit_message(false, \$\$lab\$\$, repeat(\$\$x\$\$, 1000000));'
		)" >/run/output
	leave_free 16
	sql -v VERBOSITY=verbose -c "SELECT FROM sync_probe.pgbench('wal', duration => '10 min')" \
		>/run/call 2>&1
	grep -q 'ERROR:  53100' /run/call
	result $? "a workload ends before its WAL takes the reserve" "$(</run/call)"
	nothing_left "a workload that fills pg_wal"
	for eighths in 20 12 10 9 8 7 6 5 4 3 2 1 0; do
		if ((eighths == 3)); then
			end_load
			sql -c 'SELECT pg_switch_wal()' >/run/output
		fi
		leave_free "$eighths"
		while read -ru 4 each; do
			sql -v VERBOSITY=verbose -c "$each" >/run/call 2>&1
			failed=$?
			# a trial on the load of others writes no WAL, and the suite commit refuses the slot
			case $each in
				*"'commit'"*) grep -Eq 'ERROR:  (53100|55000)' /run/call ;;
				*trial*) ((failed == 0)) || grep -q 'ERROR:  53100' /run/call ;;
				*) { ((failed == 0 && eighths >= 8)) || grep -q 'ERROR:  53100' /run/call; } &&
					((failed == 0 || eighths < 20)) ;;
			esac
			result $? "$eighths/8 of the reserve: ${each#*sync_probe.}" "$(</run/call)"
			printf '# %s\n' "$(head -n 1 /run/call)" >&3
		done 4< <(calls_of '2 s')
		nothing_left "$eighths/8 of the reserve"
	done
	rm /data/filler
	sql -c "SELECT pg_drop_replication_slot('idle')" -c 'DROP TABLE acknowledged' -c CHECKPOINT
}

start_guest
for each in $(grep -o 'lab\.[a-z]*=[^ ]*' /proc/cmdline); do declare "${each#lab.}"; done
mkdir -p /data /below
read_stack
if succeeds "the stack is built" stack_step make && succeeds "a cluster starts" make_cluster &&
	succeeds "the extension is there" \
		sql -c 'CREATE EXTENSION pg_sync_probe; CREATE EXTENSION amcheck'; then
	sync
	for each in ${tests//,/ }; do "$each"; done
fi
echo "1..$test_number" >&3
sleep 1
echo o >/proc/sysrq-trigger
sleep infinity
