#!/bin/bash
# Shares a campaign of locksim among the nodes of a SLURM cluster: run this script where sbatch is, as bash campaign.sh.
#
#   @COMMAND@
#
# It submits an array of @TASKS@ tasks, and a job that runs this script again when all of them have ended: tasks that were preempted, out of
# time or killed are submitted again, until all have played their parts; then their ledgers are merged. Tasks 0 and @SHARDS@ play the same
# part, which merge compares. Every attempt of a task has a ledger of its own, so that one that lives on behind a network that was cut does
# no harm. Run the script again by hand to go on: what is recorded is not played again.
#
# All nodes must see the folder, have the same locksim (@BUILD@ has printed this script), and find input files under the same names. Tasks on a
# node with another one are refused, and played elsewhere.
set -euo pipefail
folder=@FOLDER@
done_before=${1:--1} idle=${2:-0} # tasks that were done in the last round, and for how many rounds no task has been done
export LOCKSIM_PROGRAMS="$folder/programs" # clients of libraries, built here and played by all tasks
mkdir -p "$folder/parts"
[ "$0" -ef "$folder/campaign.sh" ] || cp "$0" "$folder/campaign.sh"

# The first line of all ledgers: build, command, program. What goes on with one that begins so is refused if anything of it differs.
if [ ! -s "$folder/head" ]; then
	(locksim @WORDS@ --jobs 1 --shard "1/@SHARDS@" --ledger - || true) | head -n 1 >"$folder/head.new"
	[ -s "$folder/head.new" ] && mv "$folder/head.new" "$folder/head"
fi

missing=()
for task in $(seq 0 @SHARDS@); do
	[ -e "$folder/parts/task-$task.done" ] || missing+=("$task")
done
count=$((@TASKS@ - ${#missing[@]}))
[ "$count" != "$done_before" ] && idle=0 || idle=$((idle + 1))

if [ ${#missing[@]} = 0 ] || [ $idle = 5 ]; then
	locksim merge -o "$folder/merged" --jobs @CPUS@ --save "$folder/findings" "$folder/parts" >"$folder/report.new" 2>&1 || true
	[ $idle != 5 ] || echo "tasks ${missing[*]} have not come to their end in five rounds: see $folder/log-*.txt" >>"$folder/report.new"
	mv "$folder/report.new" "$folder/report.txt"
	echo "the result is in $folder/report.txt"
	exit
fi

# submit submits a job, and asks again if the controller is away.
submit() {
	for _ in 1 2 3 4 5; do
		sbatch --parsable "$@" && return
		sleep 10
	done
	sbatch --parsable "$@"
}

cat >"$folder/task.sh" <<'TASK'
#!/bin/bash
#SBATCH --job-name=locksim
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@CPUS@
#SBATCH --mem=@MEMORY@
#SBATCH --time=@TIME@
#SBATCH --no-requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
#SBATCH --output=@FOLDERPLAIN@/log-%a.txt
set -u
folder=@FOLDER@
export LOCKSIM_PROGRAMS="$folder/programs"
task=$SLURM_ARRAY_TASK_ID
part=$folder/parts/task-$task

# play FILE records the task's runs in a file, and passes on what SLURM says: preempted, or out of time.
play() {
	locksim @WORDS@ --jobs @CPUS@ --shard "$task/@SHARDS@" --ledger-only --ledger "$1" --resume &
	local pid=$!
	trap "kill -TERM $pid 2>/dev/null" TERM
	wait $pid
	local code=$?
	if kill -0 $pid 2>/dev/null; then # the signal has ended wait, and not yet the program
		wait $pid
		code=$?
	fi
	return $code
}

# An attempt goes on where the last one was. If that is damaged (2), it begins again.
own=$part.attempt-$SLURM_ARRAY_JOB_ID-$(hostname -s)-$$
last=$(ls -t "$part".attempt-*.ledger 2>/dev/null | head -n 1)
cp "${last:-$folder/head}" "$own.ledger" || exit 1
[ -z "$last" ] || [ ! -e "$last.playing" ] || cp "$last.playing" "$own.ledger.playing"
play "$own.ledger"
code=$?
if [ $code = 2 ] && [ -n "$last" ]; then
	cp "$folder/head" "$own-again.ledger" && play "$own-again.ledger"
	code=$?
fi
[ $code != 0 ] || touch "$part.done" # all is played, whatever was found
exit $code
TASK
job=$(submit --array="$(IFS=,; echo "${missing[*]}")" "$folder/task.sh")
submit --dependency="afterany:$job" --job-name=locksim-merge --cpus-per-task=@CPUS@ --mem=@MEMORY@ --output="$folder/log-merge.txt" \
	--open-mode=append --wrap="bash $(printf %q "$folder/campaign.sh") $count $idle" >/dev/null
echo "submitted $job with ${#missing[@]} of @TASKS@ tasks: squeue --job $job shows them, scancel $job ends them"
echo "the result will be in $folder/report.txt; if it is not there and no job is left, run this script again"
