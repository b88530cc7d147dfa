package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locksim/locksim/scenarios"

	"github.com/stretchr/testify/require"
)

// TestManualsTellEveryFlag holds the flags that commands declare against those that their help describes, from which completion, manual
// pages and JSON come.
func TestManualsTellEveryFlag(t *testing.T) {
	for _, cmd := range commands() {
		m := manualOf(&cmd)
		require.NotEmpty(t, m.Synopsis, cmd.name)
		told := make(map[string]bool)
		for _, f := range m.Flags {
			require.NotEmpty(t, f.Help, "%s %s", cmd.name, f.Name)
			told[f.Name] = true
		}
		declared := cmd.declared()
		declared.VisitAll(func(f *flag.Flag) {
			require.True(t, told[dashed(f.Name)], "locksim help %s does not describe %s", cmd.name, dashed(f.Name))
			needsNone, ok := f.Value.(interface{ IsBoolFlag() bool })
			require.Equal(t, ok && needsNone.IsBoolFlag(), m.flag(f.Name).Argument == "", "locksim help %s: the argument of %s", cmd.name, dashed(f.Name))
			delete(told, dashed(f.Name))
		})
		require.Empty(t, told, "locksim help %s describes flags that it does not take", cmd.name)
		for _, paragraph := range append(m.before, m.after...) {
			require.NotRegexp(t, `(?m)^  --?[a-z-]+  `, paragraph, "a flag that is not read as one")
		}
	}
}

func TestManualPagesAreWellFormed(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff, which man formats pages with, is not installed")
	}
	dir := t.TempDir()
	write := func(name, page string) string {
		file := filepath.Join(dir, name+".1")
		require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
		return file
	}
	warnings := func(files ...string) string {
		var said strings.Builder
		cmd := exec.Command(groff, append([]string{"-man", "-Tutf8", "-k", "-ww", "-z"}, files...)...)
		cmd.Stderr = &said
		require.NoError(t, cmd.Run())
		return said.String()
	}
	var pages []string
	for _, name := range append(commandNames(), "") {
		_, page, _ := locksim(t.Context(), strings.Fields("help --man "+name)...)
		pages = append(pages, write("page-"+name, page))
	}
	require.Empty(t, warnings(pages...))
	require.NotEmpty(t, warnings(pages[0], write("bad", ".TH BAD 1\n.UNKNOWN\n")), "it says nothing of any page")
}

func TestHelpAsJSONHasEveryCommand(t *testing.T) {
	code, text, _ := locksim(t.Context(), "help", "--json")
	require.Equal(t, exitOK, code)
	var help struct{ Commands []manual }
	require.NoError(t, json.Unmarshal([]byte(text), &help))
	require.Len(t, help.Commands, len(commands()))
}

func TestCompletionKnowsTheNames(t *testing.T) {
	for _, x := range []struct{ line, word, want string }{
		{"locksim", "minim", "minimize\treduce a scenario to the smallest one that still violates a property"},
		{"locksim run", "fencing-33", "fencing-33-34\n:files"},
		{"locksim fuzz", "redlock-split", "redlock-split-vote\n:files"},
		{"locksim fuzz", "redsync-r", "redsync-redigo\n:files"},
		{"locksim list", "f", "faults\n:files"},
		{"locksim run x --lock", "set-nx-ex", "set-nx-ex-del"},
		{"locksim run", "--lock=set-nx-ex", "--lock=set-nx-ex-del"},
		{"locksim run --lock =", "set-nx-ex", "set-nx-ex-del"},
		{"locksim run --format", "j", "json\njunit"},
		{"locksim run --format", "=", strings.Join(formatNames(), "\n")},
		{"locksim fuzz x --faults", "all,-client-p", "all,-client-pause"},
		{"locksim run --ascii", "fencing-33", "fencing-33-34\n:files"},
		{"locksim merge", "x", ":files"},
		{"locksim fuzz x -- node", "x", ":files"},
		{"locksim no-such", "x", ":files"},
		{"locksim help", "sh", "show\n:files"},
	} {
		args := append([]string{"completion", "next", "--word=" + x.word, "--"}, strings.Fields(x.line)...)
		code, text, said := locksim(t.Context(), args...)
		require.Equal(t, exitOK, code, said)
		require.Equal(t, x.want+"\n", text, "%s %s", x.line, x.word)
	}
}

// TestShellsComplete has shells complete lines with the script for them, and a locksim that is this test.
func TestShellsComplete(t *testing.T) {
	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "locksim")))
	for shell, line := range map[string]string{
		"bash": `COMP_WORDS=(locksim run --lock = set-nx-ex); COMP_CWORD=4; _locksim locksim; echo "${COMPREPLY[@]}"`,
		"fish": `complete -C "locksim run --lock set-nx-ex"`,
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		code, script, _ := locksim(t.Context(), "completion", shell)
		require.Equal(t, exitOK, code)
		cmd := exec.Command(path, "-c", script+"\n"+line)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), asProgram+"=1")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		require.Equal(t, "set-nx-ex-del\n", string(said), shell)
	}
}

func TestShowPrintsWhatCheckAccepts(t *testing.T) {
	for _, name := range scenarios.Names() {
		code, text, _ := locksim(t.Context(), "show", name)
		require.Equal(t, exitOK, code)
		s, err := scenarios.Parse(name+".yaml", []byte(text))
		require.NoError(t, err)
		require.Equal(t, name, s.Name)
	}
	for of, file := range map[string]string{"": "../../scenarios/schema.json", "scenario": "../../scenarios/schema.json", "profile": "../../docs/profile.schema.json"} {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		code, text, _ := locksim(t.Context(), strings.Fields("show --schema "+of)...)
		require.Equal(t, exitOK, code)
		require.Equal(t, string(want), text, "locksim show --schema %s is not %s", of, file)
	}
}

func TestVariablesStandForCommonFlags(t *testing.T) {
	play := func(values map[string]string, args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := runIn(t.Context(), env{jobs: 1, values: values}, append([]string{"run", "testdata/wrong.yaml"}, args...), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	for _, x := range []struct{ name, value string }{{"width", "150"}, {"ascii", "true"}, {"color", "always"}} {
		_, plain, _ := play(nil)
		_, flagged, _ := play(nil, dashed(x.name)+"="+x.value)
		_, set, _ := play(map[string]string{variableOf(x.name): x.value})
		require.NotEqual(t, plain, set, x.name)
		require.Equal(t, flagged, set, x.name)
	}
	_, flagged, _ := play(nil, "--width=150")
	_, both, _ := play(map[string]string{"LOCKSIM_WIDTH": "80"}, "--width=150")
	require.Equal(t, flagged, both, "the flag wins")
	code, _, said := play(map[string]string{"LOCKSIM_JOBS": "many"})
	require.Equal(t, exitUsage, code)
	require.Equal(t, fmt.Sprintf("locksim: run: the variable LOCKSIM_JOBS is \"many\": not a whole number from 1 to %d\n", maxJobs), said)
}
