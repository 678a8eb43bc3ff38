# shellcheck shell=bash
# For the scripts beside this one, which run in a system of their own: results as TAP.

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
checks=0
failures=0

# result TITLE LOG STATUS: of a failure the log is shown.
result() {
	checks=$((checks + 1))
	if (($3 == 0)); then
		echo "ok $checks - $1"
	else
		failures=$((failures + 1))
		echo "not ok $checks - $1"
		tail -n 100 "$2" | sed 's/^/# /'
	fi
	return "$3"
}

# check TITLE COMMAND...: passes if the command succeeds.
check() {
	local title=$1 log status=0
	shift
	log=$(mktemp)
	"$@" >"$log" 2>&1 </dev/null || status=$?
	result "$title" "$log" "$status" || status=$?
	rm -f "$log"
	return "$status"
}

# note TEXT...: what a reader wants to see of a check that passed.
note() { printf '%s\n' "$@" | sed 's/^/# /'; }

# finish: the plan, and the exit status.
finish() {
	echo "1..$checks"
	((failures == 0))
	exit
}

# Names, kinds, modes and contents of all files below a folder.
fingerprint() {
	(cd "$1" && find . \( -type f -exec sha256sum {} + \) -o -printf '%y %m %p %l\n' | sort)
}
