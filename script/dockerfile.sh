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

# Prints an archive of what patterns in a folder name, without the folders of it.
# shellcheck disable=SC2016
archive_files='
	cd "$1"
	shift
	arguments=()
	for pattern; do
		for file in ${pattern#/}; do
			arguments+=(-C "$(dirname "$PWD/$file")" "$(basename "$file")")
		done
	done
	exec tar -cf - "${arguments[@]}"
'

# copy_into STAGE WORKDIR [--from=STAGE] SOURCE... TARGET: read and written by tar inside of the
# systems, as links in them must not lead to files of this machine.  What docker build leaves out
# is no source: our .dockerignore names build products.
copy_into() {
	local stage=$1 directory=$2 from="" sources target
	shift 2
	if [[ $1 == --from=* ]]; then
		from=docker-${1#--from=}
		shift
	fi
	sources=("${@:1:$#-1}")
	target=${*: -1}
	[[ $target == /* ]] || target=$directory/$target
	if [[ -n $from ]]; then
		change_chroot "$from" bash -euc "$archive_files" bash / "${sources[@]}" </dev/null
	elif [[ ${sources[*]} == . ]]; then
		pack_sources
	else
		bash -euc "$archive_files" bash "$root" "${sources[@]}"
	fi >"$work/copied" || return
	# shellcheck disable=SC2016
	change_chroot "$stage" bash -euc 'mkdir -p "$1"; tar -C "$1" --no-same-owner -xf -' \
		bash "$target" <"$work/copied"
}

# expand TEXT: ${NAME} of the build's arguments, which are variables docker_NAME here.  Their
# values are taken as they are.
expand() {
	local rest=$1 text="" name
	while [[ $rest =~ \$\{([A-Z]+)\} ]]; do
		name=docker_${BASH_REMATCH[1]}
		[[ -v $name ]] || return
		text+=${rest%%"${BASH_REMATCH[0]}"*}${!name}
		rest=${rest#*"${BASH_REMATCH[0]}"}
	done
	printf '%s' "$text$rest"
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
			WORKDIR)
				directory=$rest
				change_chroot "$stage" mkdir -p "$directory" </dev/null || return
				;;
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
