# Completion of locksim for fish: locksim completion fish | source
function __locksim_complete
	set -l line (commandline -opc)
	set -l word (commandline -ct)
	for each in ($line[1] completion next --word="$word" -- $line 2>/dev/null)
		if test "$each" = :files
			__fish_complete_path "$word"
		else
			echo $each
		end
	end
end
complete -c locksim -f -a '(__locksim_complete)'
