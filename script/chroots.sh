# shellcheck shell=bash
# Clean Debian systems, one for each version of PostgreSQL, to build and test in.
#
# To be sourced, by root.  Each system is a folder made by mmdebstrap from the mirror that
# this machine's own apt uses.  It holds a server, its development package and nothing
# else of what tests need.  Commands run in namespaces of their own (mounts, processes,
# IPC), with pivot_root: after chroot(2) alone, probes would read this machine's mount
# table.  What a command changes is gone when it ends, and so are its mounts, processes and
# loop devices, also after SIGKILL.
#
#	prepare_chroots FOLDER			first of all; needs mmdebstrap, or installs it
#	check_versions MAJOR...		ends with an error unless they are supported
#	versions_to_have			prints the versions that can be had, one a line
#	make_server_chroot 17			makes $chroots/17, or says why not (in $chroot_reason)
#	make_chroot NAME "stable testing" PACKAGE...	a system of other packages
#	enter_chroot NAME COMMAND...		runs it there, from a folder that has the checkout
#	change_chroot NAME COMMAND...		in the system itself: keeps what it changes
#	leave_chroot				for traps: ends the command, and removes what it left
#
# script/in-chroot does all of this for one command.  With SP_CHROOTS=FOLDER the systems
# stay there for the next time, and are made again when the mirror has another version.
#
# Which suite has a version is asked from the mirror, as versions move from suite to suite.
# 16 was in none of Debian's releases: it is the server in a wheel on PyPI (see below).
#
# Uses script/common.sh, which is to be sourced before: $work, $root, unpack_sources, apt_get.
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
debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# A complete server 16.2 with headers, x86_64 only; any of its wheels has the same server.
wheel_major=16
wheel_package=pgserver==0.1.4
wheel_python=3.12
wheel_folder=/opt/pgserver

chroots=				# the folder of all of them
chroots_lists=			# of packages in all suites: files of a private apt
fetch_error=				# what it could not fetch
chroot_reason=			# why a system could not be made
chroot_job=				# process (and process group) in one
chroot_layers=()		# folders of what was changed

# ------------------------------------------------------------ what the mirror has

# The machine's own mirror of a part of Debian: Debian, or Debian-Security.
# shellcheck disable=SC2016
mirror_of() {
	apt-get indextargets 'Created-By: Packages' --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' |
		sed -n "s,/*\$,,; /^Debian|$1|/{s,.*|,,p;q}"
}

# The machine's settings of how to fetch: a proxy, certificates, whether dates count.
fetch_settings() {
	apt-config dump | grep -E '^Acquire::(Check-|Retries|ForceIPv|https?|Languages)' |
		grep -vE ' "";$|Auto-Detect'
}

# sources_of SUITE [OPTIONS]: lines for apt.  Releases have security updates of their own.
sources_of() {
	local suite=$1 options=$2
	printf 'deb [%s] %s %s main\n' "$options" "$(mirror_of Debian)" "$suite"
	if [[ $suite == *stable && $suite != unstable && -n $(mirror_of Debian-Security) ]]; then
		printf 'deb [%s] %s %s-security main\n' "$options" "$(mirror_of Debian-Security)" "$suite"
	fi
}

# apt about all suites at once, with lists of its own.
private_apt() {
	local command=$1
	shift
	"$command" -o "Dir::Etc::sourcelist=$chroots_lists/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferencesparts=- -o "Dir::State::lists=$chroots_lists/lists" \
		-o "Dir::Cache=$chroots_lists/cache" -o Dir::State::status=/dev/null \
		-o APT::Sandbox::User=root "$@"
}

# Which servers there are.  A suite that the mirror lacks is no error, as the others answer; apt's
# own words of another are kept: "no suite has it" would not be the reason then.
fetch_lists() {
	local suite lock
	mkdir -p "$chroots_lists/lists/partial" "$chroots_lists/cache/archives/partial"
	exec {lock}>"$chroots_lists/lock"
	flock "$lock"
	for suite in $debian_suites; do
		sources_of "$suite" "targets=Packages signed-by=$debian_keyring"
	done >"$chroots_lists/sources.list"
	private_apt apt-get -q -o APT::Update::Error-Mode=any update >"$chroots_lists/log" 2>&1 \
		</dev/null || fetch_error=$(sed -n \
			'/404 \|File not found\| Release file\.$\|Some index files/d; /^E: /{s///p;q}' \
			"$chroots_lists/log")
	[[ -z $fetch_error ]] || say "apt-get update: $fetch_error; trying with the lists there are"
	# shellcheck disable=SC2086
	private_apt apt-cache madison $(printf 'postgresql-%s ' $supported_versions) \
		>"$chroots_lists/servers" 2>>"$chroots_lists/log" || true	# of any it has not found
	exec {lock}>&-
	[[ -s $chroots_lists/servers ]] && return
	chroot_reason="apt cannot tell which servers Debian has: ${fetch_error:-it knows none}"
	return 1
}

# Why no suite has it.
no_server() {
	if [[ -n $fetch_error ]]; then
		echo "no list there is has postgresql-$1, and apt cannot fetch all: $fetch_error"
	else
		echo "no suite of Debian has postgresql-$1"
	fi
}

# server_in_debian MAJOR: prints "suite version" of the first suite that has it; of two
# versions in one suite (security updates) the newer is listed first.
server_in_debian() {
	awk -F'[|]' -v suites="$debian_suites" -v package="postgresql-$1" '
		{ gsub(/ /, "", $1); gsub(/ /, "", $2); split($3, word, " ") }
		$1 != package { next }
		{ suite = word[2]; sub("(-security)?/.*", "", suite) }
		!(suite in version) { version[suite] = $2 }
		END {
			n = split(suites, order, " ")
			for (i = 1; i <= n; i++)
				if (order[i] in version) { print order[i], version[order[i]]; exit }
		}' "$chroots_lists/servers"
}

# suites_for MAJOR: what a system with this server is made of, and the server's version;
# nothing, and the reason, when there is none.
suites_for() {
	local major=$1 found
	chroot_reason=
	found=$(server_in_debian "$major")
	if [[ -n $found ]]; then
		# experimental is never complete: it stands on unstable
		echo "${found/#experimental/unstable+experimental}"
	elif [[ $major == "$wheel_major" && $(uname -m) == x86_64 ]]; then
		found=$(server_in_debian "$((major + 1))")
		[[ -z $found ]] || echo "${found%% *} $wheel_package"
	fi
}

versions_to_have() {
	local major
	[[ -s $chroots_lists/servers ]] || return 0
	for major in $supported_versions; do
		[[ -z $(suites_for "$major") ]] || echo "$major"
	done
}

# ------------------------------------------------------------------ preparation

install_mmdebstrap() {
	if command -v mmdebstrap >/dev/null && [[ -f $debian_keyring ]]; then
		return 0
	fi
	command -v apt-get >/dev/null || { chroot_reason="this is no Debian: no apt"; return 1; }
	apt_get update || true
	apt_get install --no-install-recommends mmdebstrap debian-archive-keyring ||
		{ chroot_reason="mmdebstrap cannot be installed"; return 1; }
}

# prepare_chroots FOLDER: where they are kept, or a temporary folder of the caller's.
prepare_chroots() {
	chroots=$(realpath -m -- "$1")
	chroots_lists=$chroots/lists
	chroot_reason=
	[[ $chroots != *[[:space:],:\\]* ]] ||
		die "the folder of chroots is \"$chroots\": overlays take no blank, comma, colon or backslash"
	[[ $(id -u) == 0 ]] || { chroot_reason="only root can make chroots"; return 1; }
	unshare --mount --pid --ipc --fork true 2>/dev/null ||
		{ chroot_reason="no namespaces can be made here"; return 1; }
	private_folder SP_CHROOTS "$chroots"
	install_mmdebstrap || return
	if [[ -z $(mirror_of Debian) ]]; then
		apt_get update || true
	fi
	[[ -n $(mirror_of Debian) ]] || { chroot_reason="apt has no mirror of Debian"; return 1; }
	fetch_lists
}

# ------------------------------------------------------------- making a system

# In a system that is being made: no cluster, and what reaches beyond the mirror.
write_settings() {
	local root=$1 pinned=$2 file
	mkdir -p "$root/etc/postgresql-common/createcluster.d" "$root/etc/apt/preferences.d" \
		"$root/usr/local/share/ca-certificates"
	echo 'create_main_cluster = false' \
		>"$root/etc/postgresql-common/createcluster.d/pg_sync_probe.conf"
	[[ -z $pinned ]] || printf 'Package: src:%s\nPin: release a=experimental\nPin-Priority: 990\n' \
		"$pinned" >"$root/etc/apt/preferences.d/pg_sync_probe"
	for file in /usr/local/share/ca-certificates/*.crt; do
		[[ ! -f $file ]] || cp "$file" "$root/usr/local/share/ca-certificates/"
	done
	[[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/"
}

# make_chroot NAME SUITES [PACKAGE...]: SUITES separated by blanks; the first is the one
# to stand on, the others are for what it lacks.  If experimental is among them, everything of
# the source package $chroot_source comes from there.  What was made before from the same is
# kept.  Of $chroot_architecture, if that is set: one that this machine's kernel runs.
make_chroot() {
	local name=$1 suites=$2 key pinned="" settings=() line suite status=0
	shift 2
	key="$suites ${chroot_version:-} ${chroot_architecture:-} $*"
	[[ $(cat "$chroots/$name/.made_of" 2>/dev/null) != "$key" ]] || return 0
	rm -rf -- "${chroots:?}/$name"
	[[ " $suites " != *" experimental "* ]] || pinned=${chroot_source:-}
	while IFS= read -r line; do
		settings+=("--aptopt=$line")
	done < <(fetch_settings)
	for suite in $suites; do
		sources_of "$suite" "signed-by=$debian_keyring"
	done >"$chroots/$name.list"
	write_settings "$chroots/$name.settings" "$pinned"
	[[ -z ${chroot_architecture:-} ]] || settings+=("--architectures=$chroot_architecture")
	run_apart env "TMPDIR=$chroots" mmdebstrap --variant=minbase \
		"--include=$(IFS=,; echo "ca-certificates,$*")" "${settings[@]}" \
		"--setup-hook=cp -r '$chroots/$name.settings/.' \"\$1\"" \
		"${suites%% *}" "$chroots/$name" "$chroots/$name.list" \
		>"$chroots/$name.log" 2>&1 || status=$?
	rm -rf -- "$chroots/$name.settings" "$chroots/$name.list"
	if ((status != 0)); then
		chroot_reason="mmdebstrap failed: $(grep -m 1 '^E:' "$chroots/$name.log")"
		rm -rf -- "${chroots:?}/$name"
		return 1
	fi
	printf '%s\n' "$key" >"$chroots/$name/.made_of"
}

# PyPI may be out of reach; what comes after must work.
# shellcheck disable=SC2016
install_wheel() {
	if ! change_chroot "$1" bash -euc '
		python3 -m venv /tmp/venv
		/tmp/venv/bin/pip -q --disable-pip-version-check install --no-deps \
			--only-binary :all: --platform manylinux2014_x86_64 --implementation cp \
			--python-version "$2" --target "$3" "$1"
	' bash "$wheel_package" "$wheel_python" "$wheel_folder" >>"$chroots/$1.log" 2>&1; then
		chroot_reason="$wheel_package cannot be installed: $(tail -n 1 "$chroots/$1.log")"
		rm -rf -- "${chroots:?}/$1"
		return 1
	fi
	complete_wheel "$1"
}

# The wheel's makefile knows no Perl tests, and its server no pgTAP: both are those of the
# next major.
# shellcheck disable=SC2016
complete_wheel() {
	change_chroot "$1" bash -euc '
		server=$1/pgserver/pginstall
		pgxs=$server/lib/postgresql/pgxs/src
		cp -r "/usr/lib/postgresql/$2/lib/pgxs/src/test/perl" "$pgxs/test/"
		sed -i "s/^enable_tap_tests.*/enable_tap_tests = yes/; s/^PROVE *=.*/PROVE = prove/
			s/^PERL *=.*/PERL = perl/" "$pgxs/Makefile.global"
		cp "/usr/share/postgresql/$2/extension"/pgtap* "$server/share/postgresql/extension/"
		"$server/bin/postgres" --version
		ln -s "$server/bin" /opt/server
	' bash "$wheel_folder" "$((wheel_major + 1))" >>"$chroots/$1.log" 2>&1 && return
	tail -n 5 "$chroots/$1.log" >&2
	die "the server of $wheel_package cannot be set up"
}

# make_server_chroot MAJOR: the system $chroots/MAJOR; its server is in /opt/server.
make_server_chroot() {
	local major=$1 suites chroot_version chroot_source=postgresql-$1
	read -r suites chroot_version <<<"$(suites_for "$major")"
	if [[ -z $suites ]]; then
		chroot_reason=$(no_server "$major")
		return 1
	fi
	# one at a time makes it; the lock goes with the descriptor
	local lock
	exec {lock}>"$chroots/$major.lock"
	flock "$lock"
	if [[ $chroot_version == "$wheel_package" ]]; then
		make_chroot "$major" "$suites" "postgresql-server-dev-$((major + 1))" \
			"postgresql-$((major + 1))-pgtap" python3-venv &&
			{ [[ -L $chroots/$major/opt/server ]] || install_wheel "$major"; }
	else
		make_chroot "$major" "${suites//+/ }" "postgresql-$major" "postgresql-server-dev-$major" &&
			ln -sfn "/usr/lib/postgresql/$major/bin" "$chroots/$major/opt/server"
	fi
	local status=$?
	exec {lock}>&-
	return "$status"
}

# -------------------------------------------------------------- being in a system

# run_apart COMMAND...: in namespaces of its own and a session of its own, which die with
# this shell.  Bash lets background commands ignore SIGINT; tests of cancelling need it.
run_apart() {
	local status=0
	env --default-signal=INT,QUIT setsid setpriv --pdeathsig KILL \
		unshare --mount --propagation private --pid --ipc --fork --kill-child --mount-proc \
		-- "$@" <&0 &
	chroot_job=$!
	wait "$chroot_job" || status=$?
	chroot_job=
	return "$status"
}

# Commands inside may tidy up (a loop device remembers its settings); what still runs after
# a minute gets SIGKILL with its namespace, as its first process does.
leave_chroot() {
	local tries
	if [[ -n $chroot_job ]]; then
		kill -TERM -- "-$chroot_job" 2>/dev/null || true
		for ((tries = 0; tries < 120; tries++)); do
			kill -0 "$chroot_job" 2>/dev/null || break
			sleep 0.5
		done
		kill -KILL "$chroot_job" 2>/dev/null || true
		wait "$chroot_job" 2>/dev/null || true
		chroot_job=
	fi
	((${#chroot_layers[@]} == 0)) || rm -rf -- "${chroot_layers[@]}"
	chroot_layers=()
}

# What runs first in the namespaces: ROOT becomes /, with this machine's devices and a /tmp
# on a file system of this machine that a server may use.  The last shell stays as the
# first process, and waits for those without parents.  What was run in the system before may have
# left links: nothing is mounted on them, and files are written when / is the system.
# shellcheck disable=SC2016
chroot_entry='
	set -e
	root=$1 temporary=$2 overlay=$3
	shift 3
	[[ -z $overlay ]] || mount -t overlay -o "$overlay" overlay "$root"
	cd "$root"
	for folder in old dev sys proc tmp; do
		[[ ! -L $folder ]] || { echo "/$folder is a link in $root" >&2; exit 1; }
	done
	mkdir -p old
	[[ -n $overlay ]] || mount --bind . .
	cd "$root"
	mount --rbind /dev dev
	mount --rbind /sys sys
	mount -t proc proc proc
	mount -t tmpfs -o mode=1777 tmpfs dev/shm
	mount --bind "$temporary" tmp
	names=$(cat /etc/resolv.conf) hosts=$(cat /etc/hosts)
	pivot_root . old
	umount -l /old
	rm -f /etc/resolv.conf /etc/hosts
	echo "$names" >/etc/resolv.conf
	echo "$hosts" >/etc/hosts
	cd /root/pg_sync_probe 2>/dev/null || cd /root
	exec /bin/bash -c "\"\$@\"; exit \$?" bash "$@"
'

# As after a login of root: of this shell only what reaches the network.
chroot_environment() {
	printf '%s\n' HOME=/root USER=root LOGNAME=root "TERM=${TERM:-dumb}" SHELL=/bin/bash \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	env | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_[A-Z_]*|CI)=' || true
}

# enter_root ROOT TEMPORARY OVERLAY COMMAND...
enter_root() {
	local environment
	mapfile -t environment < <(chroot_environment)
	chmod 1777 "$2"
	run_apart env -i "${environment[@]}" bash -c "$chroot_entry" bash "$@"
}

# change_chroot NAME COMMAND...: in the folder itself.
change_chroot() {
	local name=$1 temporary status=0
	shift
	temporary=$(mktemp -d "$chroots/tmp.XXXXXXXX")
	chroot_layers+=("$temporary")
	enter_root "$chroots/$name" "$temporary" "" "$@" || status=$?
	leave_chroot
	return "$status"
}

# enter_chroot NAME COMMAND...: on an overlay, or where none can be mounted on a copy; with
# a copy of this checkout in /root/pg_sync_probe.
enter_chroot() {
	local name=$1 layer overlay sources status=0
	shift
	layer=$(mktemp -d "$chroots/layer.XXXXXXXX")
	chroot_layers+=("$layer")
	mkdir "$layer/upper" "$layer/work" "$layer/root" "$layer/tmp"
	overlay=lowerdir=$chroots/$name,upperdir=$layer/upper,workdir=$layer/work
	sources=$layer/upper
	if ! unshare --mount mount -t overlay -o "$overlay" overlay "$layer/root" 2>/dev/null; then
		overlay=
		sources=$layer/root
		cp -a --reflink=auto "$chroots/$name/." "$layer/root"
	fi
	unpack_sources "$sources/root/pg_sync_probe"
	chmod 700 "$sources/root"
	enter_root "$layer/root" "$layer/tmp" "$overlay" "$@" || status=$?
	leave_chroot
	return "$status"
}
