package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// shared is a campaign that finds nothing, so that nothing is minimized.
const shared = "fuzz etcd --faults delay --property fencing-order --runs 1200"

// asCommand has a folder with a locksim that is this test, and with other programs.
func asCommand(t *testing.T, programs map[string]string) (environment []string) {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "locksim")))
	for name, text := range programs {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700))
	}
	return append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), asProgram+"=interruptible")
}

// sbatch is a cluster of one machine, which starts each task, tells the odd ones to end when they have begun to play in the
// first round, and runs what is to be run afterwards. Task 2 is begun by another build in the first round.
const sbatch = `#!/bin/bash
set -u
job=$(ls -d "$FOLDER"/job-* 2>/dev/null | wc -l)
for word; do
	case $word in
	--wrap=*) exec bash -c "${word#--wrap=}" >> "$FOLDER/log" 2>&1 ;;
	--array=*) tasks=${word#--array=} ;;
	esac
done
mkdir "$FOLDER/job-$job"
echo "tasks $tasks" >> "$FOLDER/log"
for task in ${tasks//,/ }; do
	path=$PATH
	if [ $task = 2 ] && [ $job = 0 ]; then path=$FOLDER/other:$PATH; fi
	PATH=$path SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_JOB_ID=$job bash "$FOLDER/task.sh" >> "$FOLDER/log" 2>&1 &
	if [ $((task % 2)) = 1 ] && [ $job = 0 ]; then
		until ls "$FOLDER/parts/task-$task".attempt-*.playing >/dev/null 2>&1 || ! kill -0 $!; do sleep 0.01; done
		kill -TERM $!
	fi
	wait $!
done
echo $job
`

// anotherBuild puts a locksim of another build into a folder.
func anotherBuild(t *testing.T, folder string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "locksim"), append(text, "more"...), 0o700))
}

// TestTheScriptForSLURMPlaysACampaign plays the script with a stand-in for sbatch.
func TestTheScriptForSLURMPlaysACampaign(t *testing.T) {
	long.Only(t)
	t.Chdir(t.TempDir())
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	must(t, shared+" --ledger whole --ledger-only")
	put(t, "campaign.sh", must(t, "cluster slurm "+shared+" --shards 3 --folder campaign"))
	anotherBuild(t, "campaign/other")
	folder, err := filepath.Abs("campaign")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), bash, "campaign.sh")
	cmd.Env = append(asCommand(t, map[string]string{"sbatch": sbatch}), "FOLDER="+folder)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	log := contentOf(t, "campaign/log")
	require.FileExists(t, "campaign/merged", "%s\n%s", said, log)
	require.True(t, contentOf(t, "whole") == contentOf(t, "campaign/merged"), log) //nolint:testifylint // too long to be printed
	require.Contains(t, contentOf(t, "campaign/report.txt"), "1200 runs of etcd")
	require.Contains(t, log, "interrupted: play the rest with --resume, or elsewhere")
	require.Contains(t, log, "tasks 0,1,2,3\n")
	require.Contains(t, log, "tasks 1,2,3\n", "what was interrupted or refused is submitted again, and nothing else")
	require.Regexp(t, `task-2\.attempt-0-\S+ is of another campaign than this one: build sha256-[0-9a-f]+, not sha256-[0-9a-f]+\n`, log)
}

// argument is an argument of a pod's program.
var argument = regexp.MustCompile(`(?m)^            - '(.*)'$`)

// TestTheManifestForKubernetesPlaysACampaign runs what each pod would, and merges their logs.
func TestTheManifestForKubernetesPlaysACampaign(t *testing.T) {
	long.NotShort(t)
	t.Chdir(t.TempDir())
	shared := strings.Replace(shared, "--runs 1200", "--runs 700", 1)
	must(t, shared+" --ledger whole --ledger-only")
	for _, claim := range []string{"", " --claim parts"} {
		text := must(t, "cluster kubernetes --shards 2 "+shared+claim)
		for _, line := range []string{"apiVersion: batch/v1\n", "kind: Job\n", "  completionMode: Indexed\n", "  completions: 3\n", "      restartPolicy: Never "} {
			require.Contains(t, text, line)
		}
		require.Equal(t, claim != "", strings.Contains(text, "      volumes:\n        - name: parts\n          persistentVolumeClaim: {claimName: 'parts'}\n"))
		require.NoError(t, os.Mkdir("parts", 0o755))
		var logs strings.Builder
		for pod := range 3 {
			var args []string
			for _, word := range argument.FindAllStringSubmatch(text, -1) {
				args = append(args, strings.NewReplacer("''", "'", "$(JOB_COMPLETION_INDEX)", fmt.Sprint(pod), "$(POD_NAME)", fmt.Sprintf("pod-%d", pod), "/parts/", "parts/").Replace(word[1]))
			}
			code, stdout, stderr := locksim(t.Context(), args...)
			require.Equal(t, exitOK, code, stderr)
			logs.WriteString(stdout + stderr)
		}
		if claim == "" {
			merge := program(t, "merge", "-o", "merged", "-")
			merge.Stdin = strings.NewReader(logs.String())
			said, err := merge.CombinedOutput()
			require.NoError(t, err, string(said))
		} else {
			must(t, "merge -o merged parts")
		}
		require.True(t, contentOf(t, "whole") == contentOf(t, "merged")) //nolint:testifylint // too long to be printed
		require.NoError(t, os.RemoveAll("parts"))
	}
}

func TestTheWorkflowForGitHubIsWellFormed(t *testing.T) {
	text := must(t, "cluster github "+shared+" --shards 3")
	require.Empty(t, unpinned(text))
	require.Contains(t, text, "        task: [0, 1, 2, 3]\n")
	require.Contains(t, text, "  merge:\n    needs: play\n    if: ${{ always() }}\n")
	require.NotRegexp(t, `@[A-Z]+@`, text, "a place that is not filled in")
}

func TestWordsOfASharedCommandStayWords(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "it's a $(touch pwned) file.yaml", must(t, "show lua-release"))
	code, text, said := locksim(t.Context(), "cluster", "slurm", "--shards", "2", "measure", "it's a $(touch pwned) file.yaml", "--runs", "10")
	require.Equal(t, exitOK, code, said)
	_, line, _ := strings.Cut(text, "play() {\n\tlocksim ")
	line, _, _ = strings.Cut(line, " --jobs")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "bash", "-c", `for word in `+line+`; do echo "[$word]"; done`).Output()
	require.NoError(t, err)
	require.Equal(t, "[measure]\n[it's a $(touch pwned) file.yaml]\n[--runs]\n[10]\n", string(out))
	require.NoFileExists(t, "pwned")
	_, text, _ = locksim(t.Context(), "cluster", "kubernetes", "--shards", "2", "measure", "it's a $(touch pwned) file.yaml")
	require.Contains(t, text, `- 'it''s a $$(touch pwned) file.yaml'`)
}

func TestCommandsThatCannotBeSharedAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"slrm " + shared + " --shards 2":                                 `there is no engine "slrm"; did you mean "slurm"?`,
		"slurm " + shared:                                                "--shards N is missing: into how many parts is the campaign to be cut?",
		"slurm --shards 2":                                               "no command given, such as fuzz redlock --runs 1000000000",
		"slurm run fencing-33-34 --shards 2":                             `"run" cannot be shared among machines; want one of compare, fuzz, explore, measure`,
		"slurm fuzz --shards 2":                                          "fuzz: it names nothing to play",
		"slurm fuzz redlock --rnus 3 --shards 2":                         "fuzz: unknown flag --rnus; did you mean --runs?",
		"slurm fuzz redlock --for 3s --shards 2":                         "fuzz: --for does not go with many machines",
		"github fuzz redlock --shards 400":                               "--shards 400: a workflow has at most 256 jobs, and one plays a part again",
		"slurm fuzz redlock --shards 0":                                  `invalid value "0" for --shards: not a whole number from 1 to 10000`,
		"slurm fuzz --mixed redsync@v4.15.0,redsync@v4.18.1 --shards 2x": `invalid value "2x" for --shards: not a whole number from 1 to 10000`,
	} {
		code, _, said := locksim(t.Context(), append([]string{"cluster"}, strings.Fields(line)...)...)
		require.Equal(t, exitUsage, code)
		require.Equal(t, "locksim: cluster: "+want+"\n", said)
	}
}
