# shellcheck shell=bash
# From observations to tables: RESULTS.md in the folder of results.
#
# SQL does the sums, in a cluster that is made for it and measures nothing.
# Each bench has a function report_<bench>, which prints the SQL of its section.

# psql's unaligned output, with the line that makes a Markdown table of it.  Lines that
# begin with "text:" are shown without it: those that follow each other are a paragraph,
# which is wrapped, and an empty one is a blank line.
markdown() {
	awk -F ' [|] ' '
		# Markdown takes a number or a sign at the begin of a line for a list or a heading.
		function put_word(word, blank) {
			blank = line == "" ? "" : " "
			if (line != "" && length(line blank word) > 100 && word !~ /^([0-9]+[.)]|[-+*#>=]+)$/) {
				print line
				line = blank = ""
			}
			line = line blank word
		}
		function end_paragraph() {
			if (line != "") print line
			line = ""
		}
		/^text:/ {
			sub(/^text:/, "")
			if ($0 == "") { end_paragraph(); print "" }
			count = split($0, words, / +/)
			for (i = 1; i <= count; i++) if (words[i] != "") put_word(words[i])
			head = 0
			next
		}
		{ end_paragraph() }
		NF == 1 { print; head = 0; next }
		!head {
			printf "\n| %s |\n|", $0
			for (i = 1; i <= NF; i++) printf " --- |"
			print ""
			head = 1
			next
		}
		{ printf "| %s |\n", $0 }
		END { end_paragraph() }
	'
}

# machine_line OBSERVATIONS: when, on what.
machine_line() {
	awk -F '\t' '{
		printf "text:%s, %s, %s, %s processors, extension at %s.\n", $1, $2, $3, $4, $5
	}' "$work/results/$1.machine.tsv" | markdown
}

places_table() {
	local file=$work/results/$1.places.tsv
	[[ -s $file ]] || return 0
	printf '\n| place | file system | device | its cache | mounted |\n| --- | --- | --- | --- | --- |\n'
	sed 's/\t/ | /g; s/^/| /; s/$/ |/' "$file"
	file=$work/results/$1.skipped.tsv
	[[ ! -s $file ]] || sed 's/^\([^\t]*\)\t\(.*\)/\n**Skipped: \1**: \2/' "$file"
}

# section BENCH
section() {
	local bench=$1 observed=${observed_by[$1]}
	[[ -s $work/results/$observed.machine.tsv ]] || { printf '\n## %s\n\nNot measured yet.\n' "$bench"; return; }
	printf '\n## %s\n\n' "$bench"
	machine_line "$observed"
	places_table "$observed"
	"report_$bench" >"$work/results/report.sql"
	run_job env -C "$work/results" "$bindir/psql" -X -q -A -F ' | ' -P footer=off -v ON_ERROR_STOP=1 \
		-v "bench=$build/bench" -f "$work/results/report.sql" >"$work/section" || return
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
