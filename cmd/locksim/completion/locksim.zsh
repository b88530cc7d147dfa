#compdef locksim
# Completion of locksim for zsh: source <(locksim completion zsh), or this file as _locksim in a folder of $fpath.
_locksim() {
	local -a described plain
	local line files word tab=$'\t'
	for line in "${(@f)$("${words[1]}" completion next --word="${words[CURRENT]}" -- "${(@)words[1,CURRENT-1]}" 2>/dev/null)}"; do
		word=${line%%$tab*}
		if [[ $line == :files ]]; then
			files=1
		elif [[ $line == *$tab* ]]; then
			described+=("${word//:/\\:}:${line#*$tab}")
		elif [[ -n $line ]]; then
			plain+=("$word")
		fi
	done
	(( $#described )) && _describe locksim described
	(( $#plain )) && compadd -- $plain
	[[ -n $files ]] && _files
	return 0
}
if [ "$funcstack[1]" = _locksim ]; then
	_locksim "$@"
else
	compdef _locksim locksim
fi
