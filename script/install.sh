# Which server, and the packages that are missing to build and test with it.
#
# To be sourced by script/common.sh.  Sets pg_config and major.

# That of PG_CONFIG, the newest server there is, or Debian's default; the last may still have to be
# installed.
choose_server() {
	local server
	server=$(ls -dv /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1) ||
		server=/usr/lib/postgresql/$(apt-cache depends postgresql 2>/dev/null |
			sed -n 's/.*Depends: postgresql-//p')/bin/postgres || true
	pg_config=${PG_CONFIG:-${server%postgres}pg_config}
	pg_config=$(realpath -s "$(command -v "$pg_config" || echo "$pg_config")")
	major=$("$pg_config" --version 2>/dev/null || echo "$pg_config")
	[[ $major =~ [0-9]+ ]] && major=${BASH_REMATCH[0]} || major=
}

# Who needs it, the package, and a command that shows it is there.  Debian's client package has
# pgxs.mk too: the headers are what is missing.  Without jobs, disks, browser, monitoring and
# backups tests are skipped.
packages() {
	cat <<-EOF
		all postgresql-$major test -x $("$pg_config" --bindir 2>/dev/null)/postgres
		all postgresql-server-dev-$major test -f $("$pg_config" --includedir-server)/postgres.h
		all make command -v make
		all gcc command -v gcc
		all libc6-dev test -f /usr/include/stdio.h
		test libtap-parser-sourcehandler-pgtap-perl command -v pg_prove
		test postgresql-$major-pgtap test -f $("$pg_config" --sharedir)/extension/pgtap.control
		test libcmocka-dev test -f /usr/include/cmocka.h
		test libipc-run-perl perl -MIPC::Run -e 1
		test python3-venv env PATH=/usr/bin:$PATH python3 -m ensurepip --version
		jobs postgresql-$major-cron test -f $("$pg_config" --sharedir)/extension/pg_cron.control
		disks e2fsprogs command -v mkfs.ext4
		disks xfsprogs command -v mkfs.xfs
		disks btrfs-progs command -v mkfs.btrfs
		disks zfs-fuse command -v zfs-fuse
		browser chromium-driver command -v chromedriver
		monitoring prometheus command -v prometheus
		monitoring prometheus-postgres-exporter command -v prometheus-postgres-exporter
		monitoring prometheus-sql-exporter command -v prometheus-sql-exporter
		backups pgbackrest command -v pgbackrest
	EOF
}

# missing KIND...: the packages of these kinds that are.
missing() {
	local kind package command
	while read -r kind package command; do
		[[ " $* " != *" $kind "* ]] || $command >/dev/null 2>&1 </dev/null || echo "$package"
	done < <(packages 2>/dev/null)
}

# One script at a time.  The package of a first server would make and start a cluster, and
# others a daemon, which nobody asked for: not while these files are there.
apt_get() (
	exec {lock}>>/var/lib/dpkg/lock >>"$work/apt.log" 2>&1 </dev/null || exit
	flock -w 600 "$lock" || exit
	files=()
	trap 'rm -f -- "${files[@]}"' EXIT
	put() { [[ -e $1 ]] || { files+=("$1"); printf '%b' "$2" >"$1"; chmod 755 "$1"; }; }
	put /usr/sbin/policy-rc.d '#!/bin/sh\nexit 101\n'
	if [[ $* == *postgresql-* ]]; then
		mkdir -p /etc/postgresql-common/createcluster.d
		put /etc/postgresql-common/createcluster.d/pgsp.conf 'create_main_cluster = false\n'
	fi
	DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" {lock}>&-
)

# require demo|test|full|bench: all that is missing gets installed, as root on Debian, or said.
require() {
	local needed="all" wanted="" package
	case $1 in
		test) needed="all test" wanted="jobs disks browser monitoring" ;;
		full) needed="all test" wanted="jobs disks browser monitoring backups" ;;
		bench) wanted="disks" ;;
	esac
	choose_server
	if [[ $(id -u) == 0 && -n $(missing $needed $wanted) ]] && command -v apt-get >/dev/null; then
		apt_get update || say "apt-get update failed, trying with the lists there are"
		choose_server		# of those that Debian has
		say "Installing:" $(missing $needed $wanted)
		apt_get install --no-install-recommends $(missing $needed) || cat "$work/apt.log" >&2
		for package in $(missing $wanted); do
			apt_get install --no-install-recommends "$package" ||
				say "$package cannot be installed here: what needs it will be left out"
		done
		choose_server
	fi
	needed=$(missing $needed)
	[[ -z $needed ]] || die "please install what is missing, as root:" $needed
}
