# shellcheck shell=bash
# Clean Debian systems, one for each version of PostgreSQL, to build and test in.
#
# To be sourced after script/common.sh, by root.  Each system is an archive made by mmdebstrap
# from the mirror that this machine's own apt uses.  It holds a server, its development package
# and nothing else of what tests need.  A command gets a system unpacked for it alone, in
# namespaces of its own (mounts, processes, IPC), with pivot_root: after chroot(2) alone, probes
# would read this machine's mount table.  What it changes is gone when it ends, and so are its
# mounts, processes and loop devices, also after SIGKILL.
#
#	prepare_chroots				first of all; needs mmdebstrap, or installs it
#	check_versions MAJOR...		ends with an error unless they are supported
#	versions_to_have			prints the versions that can be had, one a line
#	make_server_chroot 17		makes the system 17, or says why not (in $chroot_reason)
#	make_chroot NAME ...		a system of other packages
#	enter_chroot NAME COMMAND...	runs it there, from a folder that has the checkout
#
# script/in-chroot does all of this for one command.  With SP_CHROOTS=FOLDER the archives
# stay there for the next time, and are made again when the mirror has another version.
#
# Which suite has a version is asked from the mirror, as versions move from suite to suite.
# 16 was in none of Debian's releases: it is the server in a wheel on PyPI (see below).
# shellcheck disable=SC2154,SC2034

supported_versions="15 16 17 18 19"

check_versions() {
	local major
	for major; do
		[[ " $supported_versions " == *" $major "* ]] ||
			die "\"$major\" is no supported version; supported are $supported_versions"
	done
}

# The first that has a version gives it: releases before what still changes.
debian_suites="oldoldstable oldstable stable testing unstable experimental"

# A complete server 16.2 with headers, x86_64 only; any of its wheels has the same server.
wheel_major=16
wheel_package=pgserver==0.1.4
wheel_python=3.12

chroots=				# the folder of all of them
chroot_reason=			# why a system could not be made
suites=					# of find_server: separated by blanks, the first is the one to stand on
server_version=

# --------------------------------------------------------------------- the mirror

# The machine's own mirror of Debian, or of Debian-Security.
# shellcheck disable=SC2016
mirror_of() {
	apt-get indextargets 'Created-By: Packages' 'Origin: Debian' "Label: $1" \
		--format '$(REPO_URI)' | head -n 1
}

# Of each suite a line "MAJOR SUITE VERSION" for each server.  What is fetched decides only which
# suite is asked for packages.  A suite that the mirror lacks is no error, as the others answer.
list_servers() {
	local suite
	for suite in $debian_suites; do
		/usr/lib/apt/apt-helper download-file "$(mirror_of Debian)dists/$suite/main/binary-$(
			dpkg --print-architecture)/Packages.xz" "$work/Packages.xz" >>"$work/apt.log" 2>&1 ||
			continue
		xz -dc "$work/Packages.xz" | awk -v "suite=$suite" '
			$1 == "Package:" { package = $2 }
			$1 == "Version:" && sub(/^postgresql-/, "", package) && package ~ /^[0-9]+$/ {
				print package, suite, $2
			}'
	done >"$work/servers"
}

# find_server MAJOR: sets suites and server_version.
find_server() {
	local major=$1
	[[ $major != "$wheel_major" || $(uname -m) != x86_64 ]] || major=$((major + 1))
	if ! read -r _ suites server_version < <(grep -m 1 "^$major " "$work/servers"); then
		chroot_reason="no suite of Debian has postgresql-$major"
		return 1
	fi
	# experimental is never complete
	suites=${suites/#experimental/unstable experimental}
	[[ $major == "$1" ]] || server_version=$wheel_package
}

versions_to_have() {
	local major
	for major in $supported_versions; do
		! find_server "$major" || echo "$major"
	done
}

# prepare_chroots: in SP_CHROOTS, or a temporary folder.  Root works there, so nobody else may
# reach it.
prepare_chroots() {
	chroots=${SP_CHROOTS:-$work/chroots}
	chroot_reason=
	[[ $(id -u) == 0 ]] || { chroot_reason="only root can make chroots"; return 1; }
	unshare --mount --pid --ipc --fork true 2>/dev/null ||
		{ chroot_reason="no namespaces can be made here"; return 1; }
	command -v apt-get >/dev/null || { chroot_reason="this is no Debian: no apt"; return 1; }
	# shellcheck disable=SC2174
	mkdir -p -m 700 -- "$chroots"
	[[ -O $chroots && $(stat -L -c %a -- "$chroots") == *00 ]] ||
		die "SP_CHROOTS is \"$chroots\", which must be yours and nobody else's (chmod 700)"
	chroots=$(realpath "$chroots")
	if ! command -v mmdebstrap >/dev/null || [[ -z $(mirror_of Debian) ]]; then
		apt_get update || true
		apt_get install --no-install-recommends mmdebstrap debian-archive-keyring xz-utils ||
			{ chroot_reason="mmdebstrap cannot be installed"; return 1; }
	fi
	list_servers
	[[ -s $work/servers ]] || { chroot_reason="apt's mirror of Debian does not answer"; return 1; }
}

# ------------------------------------------------------------- making a system

# What a new system gets from this machine, in a folder: sources and settings of apt, and what
# reaches beyond the mirror.  Servers are of experimental if it stands on that, other packages
# are not.
write_settings() {
	local root=$1 suite options="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
	mkdir -p "$root/etc/postgresql-common/createcluster.d" "$root/etc/apt/preferences.d" \
		"$root/usr/local/share/ca-certificates"
	for suite in $suites; do
		printf 'deb [%s] %s %s main\n' "$options" "$(mirror_of Debian)" "$suite"
		[[ $suite != *stable || $suite == unstable || -z $(mirror_of Debian-Security) ]] ||
			printf 'deb [%s] %s %s-security main\n' "$options" "$(mirror_of Debian-Security)" \
				"$suite"
	done >"$root.list"
	apt-config dump | grep -E '^Acquire::(Check-|Retries|ForceIPv|https?|Languages)' |
		grep -vE ' "";$|Auto-Detect' >"$root.conf" || true
	# shellcheck disable=SC2086
	printf 'Package: %s\nPin: release a=experimental\nPin-Priority: 990\n' \
		"$(printf 'src:postgresql-%s ' $supported_versions)" >"$root/etc/apt/preferences.d/pgsp"
	echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.d/pgsp.conf"
	cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" \
		2>/dev/null || true
	[[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/"
}

# make_chroot NAME SUITES PACKAGES [HOOK [OPTION...]]: HOOK is run by bash in the new system,
# OPTIONs are mmdebstrap's.  What was made before from the same is kept.
# shellcheck disable=SC2016
make_chroot() {
	local name=$1 suites=$2 packages=$3 hook=${4:-} archive=$chroots/$1.tar key="$*" settings
	shift "$(($# < 4 ? $# : 4))"
	[[ $(cat "$archive.key" 2>/dev/null) != "$key" ]] || return 0
	rm -f "$archive.key"
	settings=$(mktemp -d "$work/settings.XXXX")
	write_settings "$settings"
	if ! run_apart env "TMPDIR=$work" "HOOK=$hook" mmdebstrap --variant=minbase --format=tar \
		"--include=ca-certificates,${packages// /,}" "--aptopt=$settings.conf" \
		"--setup-hook=cp -r '$settings/.' \"\$1\"" \
		'--customize-hook=exec chroot "$1" bash -euc "$HOOK"' "$@" \
		"${suites%% *}" "$archive.new" "$settings.list" >"$archive.log" 2>&1 </dev/null; then
		chroot_reason="mmdebstrap failed: $(grep -m 1 -iE '^(E:|ERROR)' "$archive.log")"
		return 1
	fi
	mv "$archive.new" "$archive"
	printf '%s' "$key" >"$archive.key"
}

# The wheel's makefile knows no Perl tests, and its server no pgTAP: both are those of the
# next major.
wheel_hook="
	python3 -m venv /tmp/venv
	/tmp/venv/bin/pip -q --disable-pip-version-check install --no-deps \\
		--only-binary :all: --platform manylinux2014_x86_64 --implementation cp \\
		--python-version $wheel_python --target /opt/pgserver $wheel_package
	rm -r /tmp/venv
	server=/opt/pgserver/pgserver/pginstall
	pgxs=\$server/lib/postgresql/pgxs/src
	cp -r /usr/lib/postgresql/$((wheel_major + 1))/lib/pgxs/src/test/perl \$pgxs/test/
	sed -i 's/^enable_tap_tests.*/enable_tap_tests = yes/; s/^PROVE *=.*/PROVE = prove/
		s/^PERL *=.*/PERL = perl/' \$pgxs/Makefile.global
	cp /usr/share/postgresql/$((wheel_major + 1))/extension/pgtap* \\
		\$server/share/postgresql/extension/
	\$server/bin/postgres --version
	ln -s \$server/bin /opt/server"

# make_server_chroot MAJOR: its server is in /opt/server.
make_server_chroot() {
	local major=$1
	find_server "$major" || return
	if [[ $server_version == "$wheel_package" ]]; then
		make_chroot "$major" "$suites" "postgresql-server-dev-$((major + 1)) $(
			)postgresql-$((major + 1))-pgtap python3-venv" "$wheel_hook"
	else
		make_chroot "$major" "$suites" "postgresql-$major postgresql-server-dev-$major" \
			"ln -s /usr/lib/postgresql/$major/bin /opt/server # $server_version"
	fi
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
# shellcheck disable=SC2016
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
	set +e
	"$@"
	exit $?
'

# enter_chroot NAME COMMAND...: with a copy of this checkout in /root/pg_sync_probe, and the
# environment of a login of root; of this shell only what reaches the network.
enter_chroot() {
	local system=$work/system status=0 environment
	mkdir "$system"
	tar -C "$system" --numeric-owner -xf "$chroots/$1.tar"
	unpack_sources "$system/root/pg_sync_probe"
	shift
	mapfile -t environment < <(env |
		grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_[A-Z_]*)=')
	run_apart env -i HOME=/root USER=root LOGNAME=root SHELL=/bin/bash "TERM=${TERM:-dumb}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${environment[@]}" \
		bash -c "$chroot_entry" bash "$system" "$@" || status=$?
	rm -rf -- "$system"
	return "$status"
}
