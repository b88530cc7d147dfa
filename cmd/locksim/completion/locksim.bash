# Completion of locksim for bash: source <(locksim completion bash)
_locksim() {
	local IFS=$'\n' line current=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	for line in $("$1" completion next --word="$current" -- "${COMP_WORDS[@]:0:COMP_CWORD}" 2>/dev/null); do
		if [ "$line" = :files ]; then
			compopt -o filenames
			COMPREPLY+=($(compgen -f -- "${current#=}"))
		else
			COMPREPLY+=("${line%%$'\t'*}")
		fi
	done
}
complete -F _locksim locksim
