package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// Where a document has somebody type locksim: a line of a block, or a few words between backquotes.
var (
	blocks = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	typed  = regexp.MustCompile(`(?m)^(?:\$ |cd \.\. && )?(?:go run \./cmd/locksim|(?:\./|locksim/)?locksim) (.+?)(?:\s+[#>] ?.*)?$`)
	quoted = regexp.MustCompile("`locksim ([^`]+)`")
)

// asksFor finds what a document leaves to the reader: a name, or most of a command.
var asksFor = regexp.MustCompile(`\b(NAME|FILE)\b|^(run|replay --live)$`)

// commandsIn lists what a document tells a reader to type.
func commandsIn(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, block := range blocks.FindAllStringSubmatch(string(text), -1) {
		for _, line := range typed.FindAllStringSubmatch(block[1], -1) {
			list = append(list, line[1])
		}
	}
	for _, words := range quoted.FindAllStringSubmatch(string(text), -1) {
		list = append(list, words[1])
	}
	return slices.DeleteFunc(list, asksFor.MatchString)
}

// asTyped divides a command into words as a shell does.
func asTyped(command string) (args []string) {
	for _, w := range word.FindAllString(command, -1) {
		args = append(args, strings.Trim(w, "'"))
	}
	return args
}

// TestCommandsInDocumentsExist begins all that the documents tell a reader to type, and interrupts it at once: a name or a
// flag that does not exist is an error before.
func TestCommandsInDocumentsExist(t *testing.T) {
	long.NotShort(t)
	documents, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	story, err := os.ReadFile("testdata/story.yaml")
	require.NoError(t, err)
	profile, err := os.ReadFile("testdata/profile.yaml")
	require.NoError(t, err)
	var commands []string
	for _, file := range append(documents, readme, "../../ARCHITECTURE.md", "../../clients/FINDINGS.md") {
		commands = append(commands, commandsIn(t, file)...)
	}
	require.Greater(t, len(commands), 30)
	findings, err := filepath.Abs("../../clients/testdata")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.CopyFS("clients/testdata", os.DirFS(findings)))
	require.NoError(t, os.WriteFile("my-story.yaml", story, 0o600)) // the reader's own
	require.NoError(t, os.WriteFile("my.yaml", profile, 0o600))
	for name, text := range map[string]string{"pod-a.jsonl": "", "pod-b.jsonl": "", "app.map": "", "app.log": "", "pods.jsonl": ""} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir("mylock", 0o700))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range commands {
		args := asTyped(strings.ReplaceAll(command, "locksim/*.yaml", "my-story.yaml"))
		if i := slices.Index(args, "--"); i >= 0 {
			if _, err := exec.LookPath(args[i+1]); err != nil {
				continue
			}
		}
		code, _, stderr := locksim(over, args...)
		require.Contains(t, []int{exitOK, exitInterrupted}, code, "%s: %s", command, stderr)
	}
}

// TestTheProgramOfTheDocumentsIsAClient plays the client that a reader is to write, with the versions of one of ours.
func TestTheProgramOfTheDocumentsIsAClient(t *testing.T) {
	long.Only(t)
	text, err := os.ReadFile("../../docs/libraries.md")
	require.NoError(t, err)
	from, to := between(t, string(text), "```go\n// main.go\n", "```")
	module, err := filepath.Abs("../..")
	require.NoError(t, err)
	mine := filepath.Join(t.TempDir(), "mylock")
	require.NoError(t, os.CopyFS(mine, os.DirFS("../../clients/redislock")))
	require.NoError(t, os.WriteFile(filepath.Join(mine, "main.go"), text[from:to], 0o600))
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-replace=github.com/locksim/locksim="+module)
	edit.Dir = mine
	require.NoError(t, edit.Run())
	t.Chdir(filepath.Dir(mine))
	code, out, stderr := locksim(t.Context(), "run", "fencing-33-34", "--lock", "./mylock", "--fencing", "none", "--format", "json")
	require.Equal(t, exitOK, code, stderr)
	require.Regexp(t, `"lock":"./mylock".*"survival":"held".*"acquisitions":1\b`, out, "the other client asks once")
}
