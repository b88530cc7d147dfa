package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/long"
)

func TestAFindingIsDrawnBesideItsFile(t *testing.T) {
	cx := counterexample(t, "fencing-33-34", checker.Resource)
	run, err := completeFinding(cx)
	require.NoError(t, err)
	dir := t.TempDir()
	c := &call{ctx: t.Context(), env: plainEnv()}
	file, err := c.saveFinding(dir, cx)
	require.NoError(t, err)
	require.NoError(t, c.savePictures(finding{cx: cx, run: run, file: file}))
	name := cx.Scenario.Name
	requireFiles(t, dir, name+".html", name+".svg", name+".yaml")
	text, err := os.ReadFile(filepath.Join(dir, name+".svg"))
	require.NoError(t, err)
	require.Contains(t, string(text), "<svg ")
	require.Contains(t, string(text), "The pause of ", "how much of it is needed")

	var log bytes.Buffer
	c.env.stepSummary = filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, c.gitHubFindings(&log, "a campaign", []finding{{cx: cx, run: run, file: "found.yaml"}}, func(w io.Writer) error {
		_, err := io.WriteString(w, "what was found\n::error::by others\n")
		return err
	}))
	require.Contains(t, log.String(), "::error title=resource of set-nx-lua-fenced is violated%3A lost update::")
	require.Contains(t, log.String(), "%0Alocksim run found.yaml --seed ")
	require.Contains(t, log.String(), "\nwhat was found\n: :error::by others\n")
	text, err = os.ReadFile(c.env.stepSummary)
	require.NoError(t, err)
	require.Equal(t, "## a campaign\n\n```text\nwhat was found\n::error::by others\n```\n", string(text))
}

func TestNoPictureIsSavedWhereThereIsNoFolder(t *testing.T) {
	cx := counterexample(t, "fencing-33-34", checker.Resource)
	run, err := completeFinding(cx)
	require.NoError(t, err)
	c := &call{ctx: t.Context(), env: plainEnv()}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.Error(t, c.savePictures(finding{cx: cx, run: run, file: filepath.Join(file, "no-folder.yaml")}))
}

func TestSearchesDrawWhatTheyFindAndTellGitHub(t *testing.T) {
	long.NotShort(t)
	for _, args := range []string{
		"fuzz set-nx-lua --runs 300 --faults client-pause --property mutual-exclusion",
		"explore set-nx-lua --max-faults 1 --stop-at-first",
	} {
		dir, e := t.TempDir(), plainEnv()
		e.stepSummary = filepath.Join(dir, "summary.md")
		found := filepath.Join(dir, "found")
		var out, stderr bytes.Buffer
		words := append(strings.Fields(args), "--format", "github", "--save", found, "--pictures")
		require.Equal(t, exitDiffers, runIn(t.Context(), e, words, &out, &stderr), stderr.String())
		require.Regexp(t, `^::error title=[a-z-]+ of set-nx-lua is violated%3A `, out.String())
		for _, ending := range []string{"yaml", "svg", "html"} {
			files, err := filepath.Glob(filepath.Join(found, "*."+ending))
			require.NoError(t, err)
			require.Len(t, files, strings.Count(out.String(), "::error "))
		}
		text, err := os.ReadFile(e.stepSummary)
		require.NoError(t, err)
		require.Contains(t, string(text), "## locksim "+strings.Fields(args)[0]+": set-nx-lua\n\n```text\n")
	}
}

func TestMinimizeDrawsWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	code, _, stderr := locksim(t.Context(), "minimize", "fencing-33-34", "-o", filepath.Join(dir, "least.yaml"), "--pictures")
	require.Equal(t, exitOK, code, stderr)
	requireFiles(t, dir, "least.html", "least.svg", "least.yaml")
}
