# shellcheck shell=bash
# Runs the steps of a Dockerfile in systems made from Debian's packages, where no container
# engine and no registry can be had.
#
# To be sourced after script/chroots.sh.
#
#	run_dockerfile FILE [NAME=VALUE...]		arguments of the build
#
# Knows the instructions that ours use: ARG, FROM (debian:SUITE-slim, with AS), COPY (with
# --from), RUN, WORKDIR, USER, CMD.  Any other ends it.  After the last instruction CMD is
# run as USER.
# shellcheck disable=SC2154

dockerfile_stages=()	# folders below $chroots, to remove at the end

# One instruction a line, without comments.
join_lines() {
	sed -e '/^[[:space:]]*#/d' "$1" | sed -e ':a' -e '/\\$/{N;s/\\\n[[:space:]]*/ /;ba' -e '}' |
		sed '/^[[:space:]]*$/d'
}

# What docker build leaves out: our .dockerignore names build products and no sources, and
# list_sources gives sources only.
copy_context() {
	local target=$1
	list_sources
	mkdir -p "$target"
	tar -C "$root" --null -T "$work/sources" -cf - |
		tar -C "$target" --no-same-owner -xf -
}

# copy_into STAGE WORKDIR [--from=STAGE] SOURCE... TARGET
copy_into() {
	local stage=$chroots/$1 directory=$2 from=$root sources target source
	shift 2
	if [[ $1 == --from=* ]]; then
		from=$chroots/docker-${1#--from=}
		shift
	fi
	sources=("${@:1:$#-1}")
	target=${*: -1}
	[[ $target == /* ]] || target=$directory/$target
	if [[ $from == "$root" && ${sources[*]} == . ]]; then
		copy_context "$stage$target"
		return
	fi
	mkdir -p "$stage$target"
	for source in "${sources[@]}"; do
		# patterns are docker's to expand, and so ours
		# shellcheck disable=SC2086
		cp -a "$from"/${source#/} "$stage$target" || return
	done
}

# expand TEXT: ${NAME} of the build's arguments, which are variables docker_NAME here.
expand() {
	local text=$1 name
	while [[ $text =~ \$\{([A-Z]+)\} ]]; do
		name=docker_${BASH_REMATCH[1]}
		[[ -v $name ]] || return
		text=${text//"${BASH_REMATCH[0]}"/${!name}}
	done
	printf '%s' "$text"
}

start_stage() {
	local image=$1 stage=$2 suite
	[[ $image == debian:*-slim ]] || { say "no system can be made for image \"$image\""; return 1; }
	suite=${image#debian:}
	suite=${suite%-slim}
	make_chroot "docker-base-$suite" "$suite" || { say "$chroot_reason"; return 1; }
	rm -rf -- "${chroots:?}/$stage"
	cp -a --reflink=auto "$chroots/docker-base-$suite" "$chroots/$stage"
	dockerfile_stages+=("$stage")
}

# run_in STAGE USER DIRECTORY COMMAND...
run_in() {
	local stage=$1 user=$2 directory=$3
	shift 3
	# shellcheck disable=SC2016
	change_chroot "$stage" bash -c 'cd "$2" && user=$1 && shift 2 &&
		exec setpriv "--reuid=$user" "--regid=$user" --init-groups env "HOME=/" "$@"' \
		bash "$user" "$directory" "$@" </dev/null
}

run_dockerfile() {
	local file=$1 line word rest stage="" number=0 user=root directory=/ command=() words=()
	local variable argument
	shift
	for argument in "$@"; do
		local "docker_${argument%%=*}=${argument#*=}"
	done
	while IFS= read -r -u 4 line; do
		read -r word rest <<<"$line"
		say "--> $line"
		if [[ $word != RUN && $word != CMD ]]; then
			rest=$(expand "$rest") || { say "a variable is not set"; return 1; }
		fi
		case $word in
			ARG)
				variable=docker_${rest%%=*}
				[[ $rest != *=* || -v $variable ]] || local "$variable=${rest#*=}"
				;;
			FROM)
				user=root directory=/ number=$((number + 1))
				stage=docker-$number
				[[ $rest != *" AS "* ]] || stage=docker-${rest##* }
				start_stage "${rest%% *}" "$stage" || return
				;;
			WORKDIR) directory=$rest; mkdir -p "$chroots/$stage$directory" ;;
			USER) user=$rest ;;
			COPY)
				read -r -a words <<<"$rest"
				copy_into "$stage" "$directory" "${words[@]}" || return
				;;
			RUN) run_in "$stage" "$user" "$directory" bash -c "$rest" || return ;;
			CMD) mapfile -t command < <(grep -o '"[^"]*"' <<<"$rest" | tr -d '"') ;;
			*) say "instruction $word is not known here"; return 1 ;;
		esac
	done 4< <(join_lines "$file")
	run_in "$stage" "$user" "$directory" "${command[@]}"
}

# Before anything else is run: whether the file copies what there is.
copies_exist() {
	local line words word
	while IFS= read -r line; do
		read -r -a words <<<"$line"
		[[ ${words[0]} == COPY && ${words[1]} != --from=* ]] || continue
		for word in "${words[@]:1:${#words[@]}-2}"; do
			[[ -e $root/$word ]] || { say "there is no $word to copy"; return 1; }
		done
	done < <(join_lines "$1")
}

remove_stages() {
	local stage
	for stage in "${dockerfile_stages[@]}"; do
		rm -rf -- "${chroots:?}/$stage"
	done
	dockerfile_stages=()
}
