# What the scripts here and bench/run share: the packages they need, one folder for everything they
# make, a private build of this checkout, throw-away clusters that see that build, and results.
#
# To be sourced.  Nothing is installed into the server (unless it offers no other way, see
# stage_extension), no existing cluster is touched, and clean_up leaves nothing behind, also
# after a signal.
#
# Sets: work (the folder), build (the copy of the checkout), pg_config, major, bindir, make_args,
# server_conf (configuration lines with which a server finds the build).

umask 022
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

work=
build=
bindir=
server_conf=
cluster_conf=		# further configuration lines, for start_cluster
as_user=()			# prefix of commands that must not run as root
user=				# and whose name that is
job=				# process (and process group) of run_job
job_minutes=1		# that it may take to tidy up
installed=			# set when the build went into the server itself

source "$root/script/install.sh"

heading() { printf '\n== %s\n\n' "$*"; }
say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# ------------------------------------------------------------------- results

passed=0 failed=0 skipped=0
summary=()
sums=				# set by a script whose last line is the sum
show=(cat)			# filter of what is shown of a stage

# count_tests LOG: prints "passed failed skipped": the sum that is its last line, or else from
# TAP as prove -v shows it and from pg_regress, which prints TAP since 16 and "test x ... ok"
# before.  A file that skips as a whole counts as one; a TODO counts as skipped.
count_tests() {
	awk '
		{ sum = "" }
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { sum = $1 " " $3 " " $5 }
		tolower($0) ~ /^(not )?ok [0-9]+.*# (skip|todo)/ || /\.\. skipped(:|$)/ { skipped++; next }
		/^ok [0-9]+/ || /^(test|    ) .*\.\.\. ok( |$)/ { passed++ }
		/^not ok [0-9]+/ || /^(test|    ) .*\.\.\. FAILED( |$)/ { failed++ }
		END { print sum ? sum : passed + 0 " " failed + 0 " " skipped + 0 }
	' "$1"
}

# add_result TITLE PASSED FAILED SKIPPED NOTE
add_result() {
	summary+=("$(printf '%-44s %5d passed %4d failed %4d skipped  %s' "$@")")
	passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
}

# skip TITLE REASON: in place of a stage that cannot run.
skip() { heading "$1"; say "skipped: $2"; add_result "$1" 0 0 1 "skipped: $2"; }

# What a script shows of a stage that failed, from its log.
at_failure() { :; }

# stage TITLE COMMAND...: a set of tests, shown while it runs.  None at all is a failure, and so is
# an exit status without "not ok", as of a program that dies after its last good test.  Output goes
# to a file, not through a pipe: a server that a killed test left behind would keep that open.
stage() {
	local title=$1 log=$work/stage.log begin=$SECONDS status=0 p f s shown
	shift
	heading "$title"
	: >"$log"
	tail -n +1 -s 0.1 --pid=$$ -f "$log" | sed -u '/^end of stage$/Q' | "${show[@]}" &
	shown=$!
	"$@" >>"$log" 2>&1 || status=$?
	read -r p f s < <(count_tests "$log")
	printf '\nend of stage\n' >>"$log"		# the line before may have no end
	wait "$shown" || true

	if ((p + f + s == 0 || (status != 0 && f == 0))); then
		say "$title: exit status $status after $p passed and $s skipped tests"
		f=1
	fi
	((f == 0)) || at_failure "$log" || true
	add_result "$title" "$p" "$f" "$s" "$((SECONDS - begin)) s"
}

# The end of a script of tests: a table of its stages, if it has any.  The exit status is 1 if
# anything failed.
finish() {
	((${#summary[@]} == 0)) || { heading Summary; printf '%s\n' "${summary[@]}"; }
	exit "$((failed > 0))"
}

# ----------------------------------------------- the folder, and its end

# start_work: one folder holds everything, and is removed however we end.  Settings of the
# caller's session must not decide what a throw-away cluster is, or which one a test reaches.
start_work() {
	local parent=${TMPDIR:-/tmp}
	unset $(compgen -v PG | grep -vx PG_CONFIG) MAKEFLAGS MFLAGS MAKELEVEL CDPATH
	# A socket's path has room for 107 bytes, and SP_TEST_FILESYSTEMS separates paths by blanks.
	[[ $parent != *[[:space:]]* && ${#parent} -le 50 ]] ||
		die "TMPDIR is too long or contains blanks for sockets and mount points"
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
	build=$work/build
	mkdir_as_user "$work/tmp" "$work/logs" "$build"
	cd /			# the user may not read where we were called
}

mkdir_as_user() { "${as_user[@]}" mkdir -p -- "$@"; }

# run_job COMMAND...: in the build folder, as the unprivileged user, in the background and in a
# session of its own.  A trap of this shell runs at once while it waits (it would not during a
# foreground command), and then ends the whole group.  Bash lets background commands ignore
# SIGINT; ours must not, as tests of cancelling send it.
start_job() {
	(cd "${build:-$root}" && exec env --default-signal=INT,QUIT setsid "${as_user[@]}" "$@") \
		</dev/null &
	job=$!
}

wait_job() {
	local status=0
	wait "$job" || status=$?
	job=
	return "$status"
}

run_job() { start_job "$@"; wait_job; }

# The job, which may tidy up, and then all processes that work somewhere below our folder: servers
# sit in their data directory, builds and tests in the build folder.  Only our own do.  SIGQUIT is
# an immediate shutdown to servers that a job left.
end_processes() {
	local signal processes tries
	if [[ -n $job ]]; then
		kill -TERM -- "-$job"
		timeout "${job_minutes}m" tail -s 0.1 --pid="$job" -f /dev/null
		kill -KILL -- "-$job"
		job=
	fi
	for signal in QUIT KILL; do
		for ((tries = 0; tries < 30; tries++)); do
			mapfile -t processes < <(find /proc -mindepth 2 -maxdepth 2 -name cwd \
				\( -lname "$work" -o -lname "$work/*" \) -printf '%h\n' | sed 's|.*/||')
			((${#processes[@]} > 0)) || return 0
			((tries > 0)) || kill "-$signal" "${processes[@]}"
			sleep 0.1
		done
	done
} 2>/dev/null

# Further steps of a caller's own, before the folder goes.
at_clean_up() { :; }

# The last line of a script of tests is the sum, "N passed, N failed, N skipped".  Also after die,
# who reads it must find a failure there.
clean_up() {
	local status=$?
	trap - EXIT
	trap '' HUP INT TERM
	set +e
	end_processes
	at_clean_up
	[[ -z $installed ]] || make -s -C "$build" "${make_args[@]}" uninstall >/dev/null 2>&1
	cd /
	rm -rf -- "$work"
	if [[ -n $sums && $status -lt 128 ]]; then
		((status == 0 || failed > 0)) || failed=1
		printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	fi
	exit "$status"
}

# ------------------------------------------------------------------ the build

# unpack_sources FOLDER: what a commit of this moment would hold: tracked and new files, no
# ignored ones.  Without git, or outside of a checkout, all there is.  The checkout may belong to
# somebody else, and lie where the unprivileged user cannot read; a build must not leave files
# in it.
unpack_sources() {
	mkdir_as_user "$1"
	{ git -c "safe.directory=$root" -C "$root" ls-files -z -co --exclude-standard ||
		(cd "$root" && find . -name .git -prune -o ! -type d -print0); } 2>/dev/null |
		tar -C "$root" --null -T - --ignore-failed-read -cf - 2>/dev/null |
		"${as_user[@]}" tar -C "$1" --no-same-owner -xf -
}

build_extension() {
	run_job make -s "-j$(nproc)" "${make_args[@]}" all &&
		run_job make -s "${make_args[@]}" install "DESTDIR=$work/stage"
}

has_setting() { run_job "$bindir/postgres" -D "$work/data" -C "$1" >/dev/null 2>&1; }

# Debian's servers up to 17 look for extensions below extension_destdir too, later ones (18 and
# up) along a path.  For another its own directory, until we end.
stage_extension() {
	local share library
	[[ -d $work/stage ]] || return 0		# prepare installed
	share=$("$pg_config" --sharedir)
	library=$("$pg_config" --pkglibdir)
	server_conf="dynamic_library_path = '$work/stage$library:\$libdir'"$'\n'
	if has_setting extension_destdir; then
		server_conf+="extension_destdir = '$work/stage'"
	elif has_setting extension_control_path; then
		server_conf+="extension_control_path = '$work/stage$share:\$system'"
	else
		[[ -n $installed || ! -e $share/extension/pg_sync_probe.control ]] ||
			{ say "This server finds extensions only in $share: drop pg_sync_probe."; return 1; }
		say "This server finds extensions in $share only: installing there until the end."
		server_conf=
		installed=1
		make -s -C "$build" "${make_args[@]}" install
	fi
}

# ---------------------------------------------------------------- the cluster

# start_perl PROGRAMS VARIABLE=VALUE...: these make clusters of their own, which read TEMP_CONFIG.
start_perl() {
	printf '%s\n' "$server_conf" >"$work/temp_config"
	start_job env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE "TEMP_CONFIG=$work/temp_config" \
		make -s "${make_args[@]}" REGRESS= "PROVE_TESTS=$1" "${@:2}" installcheck
}

# start_cluster [INITDB-ARGUMENT...]: a throw-away one that listens on a socket in our folder
# only, and the environment with which every client reaches it.
start_cluster() {
	local data=$work/data
	rm -rf -- "$data"
	mkdir_as_user "$work/socket"
	run_job "$bindir/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C "$@" \
		>/dev/null || return
	stage_extension || return
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

# prepare demo|test|full|bench: from nothing to a private copy of the checkout.
# prepare installed: for an extension that the server has already.  Needs no development
# package, so maybe no pg_config.
prepare() {
	start_work
	if [[ $1 == installed ]]; then choose_server; else require "$1"; fi
	bindir=$("$pg_config" --bindir 2>/dev/null) ||
		bindir=$(dirname "$(realpath "$(command -v postgres || echo "$pg_config")")")
	[[ -x $bindir/postgres ]] || die "there is no PostgreSQL server"
	# bitcode serves inlining only, and would need a matching clang
	make_args=(with_llvm=no "PG_CONFIG=$pg_config")
	choose_user
	[[ $1 == installed ]] || unpack_sources "$build"
}
