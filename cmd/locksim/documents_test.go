package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where a document has somebody type locksim: a line of a block, or a few words between backquotes.
var (
	blocks = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	typed  = regexp.MustCompile(`(?m)^(?:\$ )?(?:go run \./cmd/locksim|\./locksim|\.\./locksim/locksim|locksim) (.+?)(?:\s+[#>] ?.*)?$`)
	quoted = regexp.MustCompile("`locksim ([^`]+)`")
)

// asksFor finds what a document leaves to the reader: a name, or all but the beginning of a command.
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

// TestCommandsInDocumentsExist begins all that the documents tell a reader to type, and interrupts it at once: a name or a
// flag that does not exist is an error before.
func TestCommandsInDocumentsExist(t *testing.T) {
	documents, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	story, err := os.ReadFile("testdata/story.yaml")
	require.NoError(t, err)
	var commands []string
	for _, file := range append(documents, readme, "../../ARCHITECTURE.md", "../../clients/FINDINGS.md") {
		commands = append(commands, commandsIn(t, file)...)
	}
	require.Greater(t, len(commands), 30)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("my-story.yaml", story, 0o600)) // the reader's own
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range commands {
		args := strings.Fields(strings.ReplaceAll(command, "locksim/*.yaml", "my-story.yaml"))
		code, _, stderr := locksim(over, args...)
		require.Contains(t, []int{exitOK, exitInterrupted}, code, "%s: %s", command, stderr)
	}
}
