# shellcheck shell=bash
# Which server, and the packages that are missing to build and test with it.
#
# To be sourced by script/common.sh.  Sets pg_config and major.
# shellcheck disable=SC2154

temporary_settings=()	# files outside of $work, while packages are installed
apt_lock=			# descriptor that holds the lock
pgtap_files=			# where pgTAP of another server's package is

# Newest server below Debian's directory; empty without any.
newest_server() {
	local server
	for server in /usr/lib/postgresql/*/bin/postgres; do
		[[ ! -x $server ]] || printf '%s\n' "$server"
	done | sort -V | sed -n '$s|^.*/postgresql/\([^/]*\)/bin/postgres$|\1|p'
}

# Which server: that of PG_CONFIG, the newest there is, or (after apt-get
# update) Debian's default.  May leave major empty when nothing is known yet.
choose_server() {
	if [[ -n ${PG_CONFIG:-} ]]; then
		if pg_config=$(command -v "$PG_CONFIG"); then
			pg_config=$(realpath -s "$pg_config")
			major=$("$pg_config" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
		elif [[ $PG_CONFIG =~ ^/usr/lib/postgresql/([0-9]+)/bin/pg_config$ ]]; then
			major=${BASH_REMATCH[1]}
			pg_config=$PG_CONFIG
		else
			die "PG_CONFIG is \"$PG_CONFIG\", which cannot be run"
		fi
	else
		major=$(newest_server)
		if [[ -z $major ]] && command -v apt-cache >/dev/null; then
			major=$(apt-cache show postgresql 2>/dev/null |
				sed -n '/^Depends:/{s/.*postgresql-\([0-9]*\).*/\1/p;q}') || true
		fi
		pg_config=/usr/lib/postgresql/${major:-none}/bin/pg_config
	fi
}

# need PACKAGE COMMAND...: notes the package unless the command succeeds.
need() {
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || missing+=("$package")
}

has_server() { [[ -x $("$pg_config" --bindir)/postgres ]]; }
# Debian's client package has pgxs.mk too: the headers are what is missing.
has_server_headers() { [[ -f $("$pg_config" --includedir-server)/postgres.h ]]; }
has_pgtap() {
	[[ -n $pgtap_files || -f $("$pg_config" --sharedir 2>/dev/null)/extension/pgtap.control ]]
}

# A new server has no package of pgTAP for a while.  pgTAP is SQL only, and that of the server
# before serves: its files are put where our build is, and nothing gets installed.
borrow_pgtap() {
	local packages package
	command -v apt-cache >/dev/null || return
	packages=$(apt-cache pkgnames postgresql- | grep -xE 'postgresql-[0-9]+-pgtap' | sort -V) ||
		return
	# where it has one, that is what is missing
	[[ $'\n'$packages$'\n' != *$'\n'"postgresql-$major-pgtap"$'\n'* ]] || return
	package=${packages##*$'\n'}
	(cd "$work" && apt-get -q download "$package" >>apt.log 2>&1 </dev/null &&
		dpkg-deb -x "$package"_*.deb pgtap) || return
	pgtap_files=$(echo "$work"/pgtap/usr/share/postgresql/*/extension)
	say "There is no pgTAP for PostgreSQL $major: using that of $package"
}

# find_missing WHAT, where WHAT is demo, test or bench: fills the array missing,
# and the array wanted with what can be done without (it is skipped, visibly).
find_missing() {
	local version=${major:-<version>}
	missing=()
	wanted=()
	need "postgresql-$version" has_server
	need "postgresql-server-dev-$version" has_server_headers
	need make command -v make
	need gcc command -v gcc
	need libc6-dev test -f /usr/include/stdio.h
	[[ $1 != demo ]] || return 0

	if [[ $1 == test ]]; then
		need "postgresql-$version-pgtap" has_pgtap
		need libtap-parser-sourcehandler-pgtap-perl command -v pg_prove
		need libcmocka-dev test -f /usr/include/cmocka.h
		need perl command -v prove
		need libipc-run-perl perl -MIPC::Run -e 1
		need python3-venv env PATH="/usr/bin:$PATH" python3 -c 'import ensurepip, venv'
	fi
	[[ $(id -u) == 0 ]] || return 0

	local required=("${missing[@]}")
	missing=()
	need e2fsprogs command -v mkfs.ext4
	need xfsprogs command -v mkfs.xfs
	need btrfs-progs command -v mkfs.btrfs
	need zfs-fuse command -v zfs-fuse
	if [[ $1 == test ]]; then
		need chromium command -v chromium
		need chromium-driver command -v chromedriver
	fi
	wanted=("${missing[@]}")
	missing=("${required[@]}")
}

# What apt-get of one script would do to another's: fetch lists that the other one fetches, and
# install without the settings that the other one removes.  Only root can open the file, so that
# nobody else can hold the lock; it is dpkg's, whose own lock is of another kind.
lock_apt() {
	local file=/var/lib/dpkg/lock
	[[ -z $apt_lock ]] || return 0
	exec {apt_lock}>>"$file" || return
	flock -w 600 "$apt_lock" && return
	say "another script has installed packages for 10 minutes: see who has locked $file"
	unlock_apt
	return 1
}

unlock_apt() {
	[[ -z $apt_lock ]] || exec {apt_lock}>&-
	apt_lock=
}

# A file outside of $work that exists only while packages are installed.  Under the lock only.
put_temporarily() {
	local file=$1 mode=$2
	[[ ! -e $file ]] || return 0
	temporary_settings+=("$file")
	cat >"$file"
	chmod "$mode" "$file"
}

remove_temporary_settings() {
	((${#temporary_settings[@]} == 0)) || rm -f -- "${temporary_settings[@]}"
	temporary_settings=()
	unlock_apt
}

# What apt starts must not keep the lock.
apt_get() {
	local locked=$apt_lock status=0
	lock_apt || return
	(
		exec {apt_lock}>&-
		DEBIAN_FRONTEND=noninteractive exec apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
	) </dev/null >>"$work/apt.log" 2>&1 || status=$?
	[[ -n $locked ]] || unlock_apt
	return "$status"
}

# On a machine without any server, its packages would make and start a cluster,
# and zfs-fuse a daemon: nobody asked for them.  Until remove_temporary_settings.
keep_services_down() {
	lock_apt || die "packages cannot be installed"
	if [[ -z $(newest_server) ]]; then
		mkdir -p /etc/postgresql-common/createcluster.d
		put_temporarily /etc/postgresql-common/createcluster.d/pg_sync_probe.conf 644 \
			<<<'create_main_cluster = false'
	fi
	put_temporarily /usr/sbin/policy-rc.d 755 <<<$'#!/bin/sh\nexit 101'
}

# require demo|test|bench: all that is missing gets installed, or said.
require() {
	local what=$1 missing wanted package
	choose_server
	[[ $what != test ]] || has_pgtap || borrow_pgtap || true
	find_missing "$what"
	((${#missing[@]} + ${#wanted[@]} > 0)) || return 0

	if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
		((${#missing[@]} > 0)) || return 0
		die "please install what is missing, as root: apt-get install ${missing[*]}"
	fi
	apt_get update || say "apt-get update failed, trying with the lists there are"
	choose_server
	[[ -n $major ]] || die "there is no PostgreSQL server, and apt knows none"
	[[ $what != test ]] || has_pgtap || borrow_pgtap || true
	find_missing "$what"
	say "Installing: ${missing[*]} ${wanted[*]}"
	keep_services_down
	if ((${#missing[@]} > 0)) && ! apt_get install --no-install-recommends "${missing[@]}"; then
		cat "$work/apt.log" >&2
		die "could not install: ${missing[*]}"
	fi
	for package in "${wanted[@]}"; do
		apt_get install --no-install-recommends "$package" ||
			say "$package cannot be installed here: what needs it will be left out"
	done
	remove_temporary_settings

	choose_server
	find_missing "$what"
	((${#missing[@]} == 0)) || die "still missing for $pg_config: ${missing[*]}"
}
