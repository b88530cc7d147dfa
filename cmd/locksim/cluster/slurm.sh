#!/bin/bash
# Shares a campaign of locksim among the nodes of a SLURM cluster: run this script where sbatch is, as bash campaign.sh.
#
#   @COMMAND@
#
# It submits an array of @TASKS@ tasks, and a job that merges what they have played when all of them have ended. Each task plays a part;
# tasks 0 and @SHARDS@ play the same one, which merge compares. Every attempt of a task has a ledger of its own, so that one that lives on
# behind a network that was cut does no harm.
#
# All nodes must see the folder, have the same locksim (@BUILD@), and find input files under the same names.
set -euo pipefail
folder=@FOLDER@
mkdir -p "$folder/parts"

job=$(sbatch --parsable <<'TASK'
#!/bin/bash
#SBATCH --job-name=locksim
#SBATCH --array=0-@SHARDS@
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=@CPUS@
#SBATCH --mem=@MEMORY@
#SBATCH --time=@TIME@
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60
#SBATCH --output=@FOLDERPLAIN@/log-%a.txt
set -u
task=$SLURM_ARRAY_TASK_ID
part=@FOLDER@/parts/task-$task

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

# A later attempt goes on where the last one was. If that is damaged (2), it begins again. The number of an attempt is not unique: a
# controller that was restarted may count again, while the attempt before lives on.
own=$part.attempt-${SLURM_RESTART_COUNT:-0}-$(hostname -s)-$$
last=$(ls -t "$part".attempt-*.ledger 2>/dev/null | head -n 1)
[ -z "$last" ] || cp "$last" "$own.ledger"
play "$own.ledger"
code=$?
if [ $code = 2 ] && [ -n "$last" ]; then
	play "$own-again.ledger"
	code=$?
fi
# 0: all is played, whatever was found. 2: it can never succeed. All else: go on elsewhere.
case $code in
0 | 2) exit $code ;;
*) [ "${SLURM_RESTART_COUNT:-0}" -lt 20 ] || exit $code ;;
esac
for _ in 1 2 3 4 5 6; do # the controller may be away
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$task" && break
	sleep 10
done
exit $code
TASK
)
echo "submitted $job: squeue --job $job shows its tasks, scancel $job ends it"

sbatch --parsable --dependency="afterany:$job" --job-name=locksim-merge --cpus-per-task=@CPUS@ --mem=@MEMORY@ --output="$folder/report.txt" <<MERGE
#!/bin/bash
locksim merge -o "$folder/merged" --jobs @CPUS@ "$folder/parts"
MERGE
echo "the result will be in $folder/report.txt, and the ledger in $folder/merged"
