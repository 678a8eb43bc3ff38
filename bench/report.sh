# shellcheck shell=bash
# From observations to tables: RESULTS.md in the folder of results.
#
# SQL does the sums, in a cluster that is made for it and measures nothing.
# Each bench has a function report_<bench>, which prints the SQL of its section.

# psql's unaligned output as Markdown: tables get the line below their head.
markdown() {
	awk -F ' [|] ' '
		NF < 2 { print; head = 0; next }
		!head {
			printf "\n| %s |\n|", $0
			for (i = 1; i <= NF; i++) printf " --- |"
			print ""
			head = 1
			next
		}
		{ printf "| %s |\n", $0 }
	'
}

# machine_line OBSERVATIONS: when, on what.
machine_line() {
	awk -F '\t' '{
		printf "%s, %s, %s,\n%s processors, extension at %s.\n", $1, $2, $3, $4, $5
	}' "$work/results/$1.machine.tsv"
}

places_table() {
	local file=$work/results/$1.places.tsv
	[[ -s $file ]] || return 0
	{ echo "place | file system | device | its cache | mounted"; sed 's/\t/ | /g' "$file"; } |
		markdown
	file=$work/results/$1.skipped.tsv
	[[ ! -s $file ]] || sed 's/^\([^\t]*\)\t\(.*\)/\n**Skipped: \1**: \2/' "$file"
}

# section BENCH
section() {
	local bench=$1
	[[ -s $work/results/$bench.machine.tsv ]] ||
		{ printf '\n## %s\n\nNot measured yet.\n' "$bench"; return; }
	printf '\n## %s\n\n' "$bench"
	machine_line "$bench"
	places_table "$bench"
	"report_$bench" >"$work/results/report.sql"
	run_job env -C "$work/results" "$bindir/psql" -X -q -A -F ' | ' -P footer=off \
		-v ON_ERROR_STOP=1 -f "$work/results/report.sql" >"$work/section" || return
	markdown <"$work/section"
}

write_report() {
	local bench
	cp -R -- "$results" "$work/results"
	chmod -R a+rX "$work/results"
	cluster_conf=
	start_cluster || die "no cluster to make the report with"
	{
		printf '# Results\n'
		for bench in "${benches[@]}"; do
			section "$bench"
		done
	} >"$work/RESULTS.md"
	cp -- "$work/RESULTS.md" "$results/RESULTS.md"
	chown --reference="$root/bench" "$results/RESULTS.md"
	for bench in "${chosen[@]}"; do
		awk -v "title=## $bench" '/^## / { on = $0 == title } on' "$work/RESULTS.md"
	done
}
