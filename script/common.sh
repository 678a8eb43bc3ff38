# shellcheck shell=bash
# What script/demo, script/test and bench/run share: the packages they need, one folder
# for everything they make, a private build of this checkout, and throw-away
# clusters that see that build.
#
# To be sourced.  Nothing is installed into the server (unless it offers no
# other way, see stage_extension), no existing cluster is touched, and
# clean_up leaves nothing behind, also after a signal.
#
# Sets: work (the folder), build (the copy of the checkout), pg_config, major,
# bindir, server_conf (configuration lines with which a server finds the build).

umask 022
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

work=
build=
pg_config=
major=
bindir=
server_conf=
cluster_conf=		# further configuration lines, for start_cluster
as_user=()			# prefix of commands that must not run as root
user=				# and whose name that is
job=				# process (and process group) of run_job
installed=			# set when the build went into the server itself

# shellcheck source=script/install.sh
source "$root/script/install.sh"

heading() { printf '\n== %s\n\n' "$*"; }
say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# Settings of the caller's session must not decide what a throw-away cluster is
# or which cluster a test reaches.
forget_session() {
	local name
	for name in "${!PG@}"; do
		[[ $name == PG_CONFIG ]] || unset "$name"
	done
	unset MAKEFLAGS MFLAGS MAKELEVEL CDPATH
}

# count_tests LOG: prints "passed failed skipped" from TAP as prove -v shows it
# and from pg_regress, which prints TAP since 16 and "test x ... ok" before.  A
# file that skips as a whole counts as one; a TODO counts as skipped.
# A program that dies after its last good test, or runs fewer than it planned,
# has no "not ok": prove's summary tells.
count_tests() {
	awk '
		tolower($0) ~ /^(not )?ok [0-9]+.*# (skip|todo)/ || /\.\. skipped(:|$)/ { skipped++; next }
		/^ok [0-9]+/ || /^(test|    ) .*\.\.\. ok( |$)/ { passed++; next }
		/^not ok [0-9]+/ || /^(test|    ) .*\.\.\. FAILED( |$)/ { failed++; next }
		/\(Wstat: .*Tests: [0-9]+ Failed: 0\)/ {
			if ($0 ~ /\(Wstat: 0 /) silent = 1; else failed++
			next
		}
		silent && /Parse errors:/ { failed++ }
		{ silent = 0 }
		END { print passed + 0, failed + 0, skipped + 0 }
	' "$1"
}

# print_sum [MORE-FAILURES]: the last line of a test.
# shellcheck disable=SC2154
print_sum() {
	printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$((failed + ${1:-0}))" "$skipped"
}

# sum_at_end STATUS, for at_clean_up: also after die, who reads the last line must find a failure
# there (and no sum at all after a signal).
sum_at_end() {
	[[ -z $finished && $1 != 129 && $1 != 130 && $1 != 143 ]] || return 0
	print_sum 1
}

# ----------------------------------------------- the folder, and its end

# private_folder NAME FOLDER: one that the caller chose (by the setting NAME) to keep things in.
# Root works there, so nobody else may reach it.
private_folder() {
	# shellcheck disable=SC2174
	mkdir -p -m 700 -- "$2" || die "$1 is \"$2\", which cannot be made"
	[[ -O $2 && $(stat -L -c %a -- "$2") == *00 ]] ||
		die "$1 is \"$2\", which must be yours and nobody else's:" \
			"take another folder, or change its owner and mode (chmod 700)"
}

# start_work: one folder holds everything, and is removed however we end.
start_work() {
	local parent=${TMPDIR:-/tmp}
	# Sockets lie in there, whose paths have room for 107 bytes, and SP_TEST_
	# FILESYSTEMS separates paths by blanks.
	if [[ $parent == *[[:space:]]* || ${#parent} -gt 50 ]]; then
		say "TMPDIR is too long or contains blanks for sockets and mount points: using /tmp"
		parent=/tmp
	fi
	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	# Not named after the extension: tests look for files that are.
	work=$(realpath "$(mktemp -d "$parent/pgsp.XXXXXXXX")")
}

# The server refuses to run as root: whatever touches one runs as this user.
choose_user() {
	user=$(id -un)
	if [[ $(id -u) == 0 ]]; then
		user=postgres
		id "$user" >/dev/null 2>&1 ||
			die "the server refuses to run as root, and there is no user \"$user\""
		as_user=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups)
		chown "$user:" "$work"
	fi
	as_user+=(env "HOME=$work" "USER=$user" "LOGNAME=$user" "TMPDIR=$work/tmp")
	"${as_user[@]}" mkdir "$work/tmp" "$work/logs" "$work/build"
}

# run_job COMMAND...: in the build folder, as the unprivileged user, in the
# background and in a session of its own.  A trap of this shell runs at once
# while it waits (it would not during a foreground command), and then ends the
# whole group.  Bash lets background commands ignore SIGINT; ours must not, as
# tests of cancelling send it.
start_job() {
	(cd "$build" && exec env --default-signal=INT,QUIT setsid "${as_user[@]}" "$@") </dev/null &
	job=$!
}

wait_job() {
	local status=0
	wait "$job" || status=$?
	job=
	return "$status"
}

run_job() {
	start_job "$@"
	wait_job
}

# Processes that work somewhere below our folder: servers sit in their data
# directory, builds and tests in the build folder.  Only our own do.
our_processes() {
	local entry directory
	for entry in /proc/[0-9]*; do
		directory=$(readlink "$entry/cwd" 2>/dev/null) || continue
		[[ $directory != "$work" && $directory != "$work"/* ]] || printf '%s\n' "${entry#/proc/}"
	done
}

# An immediate shutdown (SIGQUIT) of every server, also those that a killed
# test could not stop; SIGKILL for what is still there after three seconds.
end_processes() {
	local file pid tries
	[[ -z $job ]] || kill -TERM -- "-$job" 2>/dev/null || true
	while IFS= read -r file; do
		pid=$(sed -n 1p "$file" 2>/dev/null) || continue
		[[ $pid =~ ^[0-9]+$ && $(readlink "/proc/$pid/cwd") == "$work"/* ]] || continue
		kill -QUIT "$pid" 2>/dev/null || true
	done < <(find "$work" -name postmaster.pid 2>/dev/null)
	for ((tries = 0; tries < 30; tries++)); do
		[[ -n $(our_processes) ]] || return 0
		sleep 0.1
	done
	for pid in $(our_processes); do
		kill -KILL "$pid" 2>/dev/null || true
	done
	sleep 0.1
}

# Further steps of a caller's own, before the folder goes.
at_clean_up() { :; }

clean_up() {
	local status=$?
	trap - EXIT
	trap '' HUP INT TERM
	set +e
	if [[ -n $work ]]; then
		end_processes
		at_clean_up "$status"
		[[ -z $installed ]] || make -s -C "$build" uninstall with_llvm=no \
			"PG_CONFIG=$pg_config" >/dev/null 2>&1
		cd /
		rm -rf -- "$work"
	fi
	remove_temporary_settings
	exit "$status"
}

# ------------------------------------------------------------------ the build

# What a commit of this moment would hold: tracked and new files, no ignored
# ones.  Without git, or outside of a checkout, all there is.
list_sources() {
	local file
	# The checkout may belong to somebody else than who runs this.
	git -c "safe.directory=$root" -C "$root" ls-files -z -co --exclude-standard 2>/dev/null |
		while IFS= read -r -d '' file; do
			[[ ! -e $root/$file && ! -L $root/$file ]] || printf '%s\0' "$file"
		done >"$work/sources" || true
	[[ -s $work/sources ]] ||
		(cd "$root" && find . -name .git -prune -o ! -type d -print0) >"$work/sources"
}

pack_sources() {
	list_sources
	tar -C "$root" --null -T "$work/sources" -cf -
}

# unpack_sources FOLDER
unpack_sources() {
	mkdir -p "$1"
	pack_sources | tar -C "$1" --no-same-owner -xf -
}

# The checkout may lie where the unprivileged user cannot read, and a build
# must not leave files in it: work on a copy.
copy_sources() {
	build=$work/build
	pack_sources | "${as_user[@]}" tar -C "$build" -xf -
}

# with_llvm=no: bitcode serves inlining only, and would need a matching clang.
make_args() { printf '%s\n' with_llvm=no "PG_CONFIG=$pg_config"; }

build_extension() {
	local arguments
	mapfile -t arguments < <(make_args)
	run_job make -s "-j$(nproc)" "${arguments[@]}" all || return
	run_job make -s "${arguments[@]}" install "DESTDIR=$work/stage" || return
	[[ -z $pgtap_files ]] ||
		run_job cp -R "$pgtap_files/." "$work/stage$("$pg_config" --sharedir)/extension/"
}

# has_setting DATA_DIRECTORY NAME
has_setting() { run_job "$bindir/postgres" -D "$1" -C "$2" >/dev/null 2>&1; }

# Debian's servers up to 17 look for extensions below extension_destdir too,
# later ones (18 and up) along a path.  Needs a data directory to ask with.
stage_extension() {
	local data=$1 share library
	[[ -d $work/stage ]] || return 0		# prepare_installed
	share=$work/stage$("$pg_config" --sharedir)
	library=$work/stage$("$pg_config" --pkglibdir)
	if has_setting "$data" extension_destdir; then
		server_conf="extension_destdir = '$work/stage'"
	elif has_setting "$data" extension_control_path; then
		server_conf="extension_control_path = '$share:\$system'"
	else
		install_into_server || return
		return 0
	fi
	server_conf+=$'\n'"dynamic_library_path = '$library:\$libdir'"
}

# For a server that can be told neither: its own directory, until we end.
install_into_server() {
	local extension_dir
	extension_dir=$("$pg_config" --sharedir)/extension
	if [[ -e $extension_dir/pg_sync_probe.control ]]; then
		say "This server finds extensions in $extension_dir only, and that has a pg_sync_probe" \
			"already: remove it first."
		return 1
	fi
	if [[ ! -w $extension_dir || ! -w $("$pg_config" --pkglibdir) ]]; then
		say "This server finds extensions in $extension_dir only, where $(id -un) may not write:" \
			"run this as root."
		return 1
	fi
	say "This server finds extensions in $extension_dir only: installing there until the end."
	installed=1
	make -s -C "$build" install with_llvm=no "PG_CONFIG=$pg_config"
}

# ---------------------------------------------------------------- the cluster

# start_cluster [INITDB-ARGUMENT...]: a throw-away one that listens on a socket
# in our folder only, and the environment with which every client reaches it.
start_cluster() {
	local data=$work/data
	mkdir_as_user "$work/socket"
	run_job "$bindir/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C "$@" \
		>"$work/logs/initdb.log" 2>&1 || {
		cat "$work/logs/initdb.log" >&2
		return 1
	}
	stage_extension "$data" || return
	"${as_user[@]}" tee -a "$data/postgresql.conf" >/dev/null <<-EOF
		listen_addresses = ''
		unix_socket_directories = '$work/socket'
		unix_socket_permissions = 0700
		$server_conf
		$cluster_conf
	EOF
	run_job "$bindir/pg_ctl" -D "$data" -l "$work/logs/server.log" -s -w start || {
		cat "$work/logs/server.log" >&2
		return 1
	}
	export PGHOST=$work/socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
}

# end_cluster: gone, with its data.
end_cluster() {
	run_job "$bindir/pg_ctl" -D "$work/data" -s -w -t 10 -m immediate stop >/dev/null 2>&1 ||
		end_processes
	rm -rf -- "${work:?}/data"
}

mkdir_as_user() { "${as_user[@]}" mkdir -p -- "$@"; }

# prepare demo|test|bench: from nothing to a private copy of the checkout.
prepare() {
	forget_session
	start_work
	require "$1"
	bindir=$("$pg_config" --bindir)
	choose_user
	cd /			# the user may not read where we were called
	copy_sources
}

# prepare_installed: for an extension that the server has already.  Needs no development
# package, so maybe no pg_config.
prepare_installed() {
	forget_session
	start_work
	choose_server
	if [[ -x $pg_config ]]; then
		bindir=$("$pg_config" --bindir)
	else
		bindir=$(dirname "$(realpath "$(command -v postgres)")") || true
	fi
	[[ -x $bindir/postgres ]] || die "there is no PostgreSQL server"
	major=$("$bindir/postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	choose_user
	cd /
	build=$work/build
}
