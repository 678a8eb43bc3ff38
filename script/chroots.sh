# Clean Debian systems, one for each version of PostgreSQL, to build and test in.
#
# To be sourced, by a script that root runs.  Each system is an archive made by mmdebstrap
# from the mirror that this machine's own apt uses.  It holds a server, its development package,
# pgTAP and nothing else of what tests need.  A command gets a system unpacked for it alone, in
# namespaces of its own (mounts, processes, IPC), with pivot_root: after chroot(2) alone, probes
# would read this machine's mount table.  What it changes is gone when it ends, and so are its
# mounts, processes and loop devices, also after SIGKILL.
#
# script/in-chroot does all of this for one command.  With SP_CHROOTS=FOLDER the archives
# stay there for the next time, and are made again after a week.

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

TMPDIR=${TMPDIR:-/var/tmp}		# these systems are large

# The suites of Debian that have each version; the system stands on the first.
suites_of=(
	[15]="bookworm bookworm-security"
	[16]="trixie trixie-security"		# 17's: 16 was in none, see wheel_hook
	[17]="trixie trixie-security"
	[18]="forky"
	[19]="unstable experimental"
)
# pgTAP is SQL only, and serves versions that have no package of it.
pgtap_of=([16]=17 [19]=18)

# choose_versions [MAJOR...]: sets majors to these, which must be supported, or to all.
choose_versions() {
	local major
	majors=("$@")
	(($# > 0)) || majors=("${!suites_of[@]}")
	for major; do
		[[ " ${!suites_of[*]} " == *" $major "* ]] ||
			die "\"$major\" is no supported version; supported are ${!suites_of[*]}"
	done
}

chroots=				# the folder of all of them
chroot_reason=			# why a system could not be made

# sources_of SUITES: for apt, from this machine's own mirrors of Debian and of Debian-Security.
sources_of() {
	local suite mirror key=/usr/share/keyrings/debian-archive-keyring.gpg
	for suite in $1; do
		mirror=$(apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
			"Label: Debian$([[ $suite != *-security ]] || echo -Security)" \
			--format '$(REPO_URI)' | head -n 1)
		[[ -z $mirror ]] || echo "deb [signed-by=$key] $mirror $suite main contrib"
	done
}

# prepare_chroots: in SP_CHROOTS, or a temporary folder.  Root works there, so nobody else may
# reach it.  Installs mmdebstrap.
prepare_chroots() {
	local folder=${SP_CHROOTS:-$work/chroots}
	[[ $(id -u) == 0 ]] && unshare --mount --pid --ipc --fork true 2>/dev/null &&
		command -v apt-get >/dev/null ||
		{ chroot_reason="needs root, namespaces, and apt of Debian"; return 1; }
	(umask 077 && mkdir -p -- "$folder")
	[[ -O $folder && $(stat -L -c %a -- "$folder") == *00 ]] ||
		die "SP_CHROOTS is \"$folder\", which must be yours and nobody else's (chmod 700)"
	if ! command -v mmdebstrap >/dev/null || [[ -z $(sources_of stable) ]]; then
		apt_get update || true
		apt_get install --no-install-recommends mmdebstrap debian-archive-keyring ||
			{ chroot_reason="mmdebstrap cannot be installed"; return 1; }
	fi
	chroots=$(realpath "$folder")
}

# ------------------------------------------------------------- making a system

# What a new system gets from this machine to reach the network, and settings.  Servers are of
# experimental if it stands on that, other packages are not.
setup_hook='
	mkdir -p "$1/etc/postgresql-common/createcluster.d" "$1/etc/apt/preferences.d" \
		"$1/usr/local/share"
	echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.d/pgsp.conf"
	printf "Package: src:postgresql-[0-9]*\nPin: release a=experimental\nPin-Priority: 990\n" \
		>"$1/etc/apt/preferences.d/pgsp"
	cp -r /usr/local/share/ca-certificates "$1/usr/local/share/"
	test ! -f /etc/pip.conf || cp /etc/pip.conf "$1/etc/"
'

# get_source PACKAGE, for hooks: its source without Debian's patches, in the folder that they are in
# then.
get_source() {
	sed "s/^deb /deb-src /" /etc/apt/sources.list >/etc/apt/sources.list.d/source.list &&
		apt-get -q update && mkdir /tmp/source && cd /tmp/source &&
		apt-get -q source --tar-only --download-only "$1" &&
		tar -xf ./*.orig.tar.* --strip-components 1
}

# make_chroot NAME SUITES PACKAGES [HOOK [OPTION...]]: HOOK is run by bash in the new system,
# OPTIONs are mmdebstrap's.  What was made this week from the same is kept.
make_chroot() {
	local archive
	[[ -n $chroots ]] || prepare_chroots || return
	archive=$chroots/$1.tar
	[[ -z $(find "$archive.key" -mtime -7 2>/dev/null) || $(<"$archive.key") != "$*." ]] || return 0
	rm -f "$archive.key"
	apt-config dump | grep -E '^Acquire::(Check-|Retries|ForceIPv|https?|Languages)' |
		grep -vE ' "";$|Auto-Detect' >"$work/apt.conf" || true
	if ! run_apart env "TMPDIR=$work" "HOOK=$(declare -f get_source); ${4:-}" \
		mmdebstrap --variant=minbase --format=tar "--aptopt=$work/apt.conf" \
		"--include=ca-certificates,${3// /,}" \
		"--setup-hook=$setup_hook" '--customize-hook=exec chroot "$1" bash -euc "$HOOK"' \
		"${@:5}" "${2%% *}" "$archive.new" - < <(sources_of "$2") >"$archive.log" 2>&1; then
		chroot_reason="mmdebstrap failed: $(grep -m 1 -iE '^(E:|ERROR)' "$archive.log")"
		return 1
	fi
	mv "$archive.new" "$archive"
	echo "$*." >"$archive.key"		# $(<) drops newlines at the end, as of a hook
}

# 16 is a complete server 16.2 with headers, of a wheel on PyPI, x86_64 only.  Its makefile knows
# no Perl tests: they are those of 17.
wheel_hook='
	pip -q install --no-deps --only-binary :all: --platform manylinux2014_x86_64 \
		--implementation cp --python-version 3.12 --target /opt/pgserver pgserver==0.1.4
	server=/opt/pgserver/pgserver/pginstall
	pgxs=$server/lib/postgresql/pgxs/src
	cp -r /usr/lib/postgresql/17/lib/pgxs/src/test/perl $pgxs/test/
	sed -i "s/^enable_tap_tests.*/enable_tap_tests = yes/; s/^PROVE *=.*/PROVE = prove/
		s/^PERL *=.*/PERL = perl/" $pgxs/Makefile.global
	ln -s $server/bin /opt/server
'

# make_server_chroot MAJOR: the system of that name, whose server is in /opt/server.
make_server_chroot() {
	local pgtap=${pgtap_of[$1]:-$1} packages="postgresql-$1 postgresql-server-dev-$1"
	local hook="ln -s /usr/lib/postgresql/$1/bin /opt/server"
	if [[ $1 == 16 ]]; then
		packages="postgresql-server-dev-$pgtap python3-pip" hook=$wheel_hook
	fi
	make_chroot "$1" "${suites_of[$1]}" "$packages postgresql-$pgtap-pgtap" "$hook
		cp -n /usr/share/postgresql/$pgtap/extension/pgtap* $(
			)\"\$(/opt/server/pg_config --sharedir)/extension/\""
}

# -------------------------------------------------------------- being in a system

# run_apart COMMAND...: as run_job does, with this input, in namespaces which die with this shell.
run_apart() {
	env --default-signal=INT,QUIT setsid setpriv --pdeathsig KILL \
		unshare --mount --propagation private --pid --ipc --fork --kill-child --mount-proc \
		-- "$@" <&0 &
	job=$!
	wait_job
}

# What runs first in the namespaces: the folder becomes /, with this machine's devices.  This
# shell stays as the first process, and waits for those without parents.
chroot_entry='
	set -e
	mount --bind "$1" "$1"
	cd "$1"
	mount --rbind /dev dev
	mount --rbind /sys sys
	mount -t proc proc proc
	mount -t tmpfs -o mode=1777 tmpfs dev/shm
	cp -L /etc/resolv.conf /etc/hosts etc/
	mkdir old
	pivot_root . old
	umount -l /old
	cd /root/pg_sync_probe
	shift
	"$@"
	exit
'

# unpack_chroot NAME: in $work/system, with a copy of this checkout in /root/pg_sync_probe.
unpack_chroot() {
	mkdir "$work/system"
	tar -C "$work/system" --numeric-owner -xf "$chroots/$1.tar"
	unpack_sources "$work/system/root/pg_sync_probe"
}

# run_in_chroot COMMAND...: with the environment of a login of root; of this shell only what
# reaches the network.
run_in_chroot() {
	local environment
	mapfile -t environment < <(env |
		grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_[A-Z_]*)=')
	run_apart env -i HOME=/root USER=root LOGNAME=root SHELL=/bin/bash "TERM=${TERM:-dumb}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${environment[@]}" \
		bash -c "$chroot_entry" bash "$work/system" "$@"
}

enter_chroot() {
	local status=0
	unpack_chroot "$1"
	run_in_chroot "${@:2}" || status=$?
	rm -rf -- "$work/system"
	return "$status"
}

# stage_in TITLE NAME COMMAND...: a stage, which is skipped without that system.  A system that is
# not kept serves once.
stage_in() {
	if [[ ! -e $chroots/$2.tar.key ]]; then
		skip "$1" "$chroot_reason"
		return
	fi
	stage "$1" enter_chroot "${@:2}"
	[[ -n ${SP_CHROOTS:-} ]] || rm -f -- "$chroots/$2".tar*
}
