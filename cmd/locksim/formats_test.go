package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/reports"
)

func TestEveryFormatIsWrittenAndListed(t *testing.T) {
	begins := map[string]string{
		"text": "story — ", "json": `{"schema":"locksim.run/1"`, "timeline": `[{"schema":"` + reports.TimelineSchema, "svg": "<svg ", "slide": "<svg ",
		"html": "<!doctype html>", "mermaid": "sequenceDiagram\n",
		"junit": "<?xml ", "github": "  scenario ", "log": `{"time":`,
	}
	_, help, _ := locksim(t.Context(), "help", "run")
	for _, f := range formats() {
		if f.name == "png" { // which is not drawn here; see TestASlideIsDrawnAsPixels
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			args := []string{"run", "testdata/story.yaml", "--variant", "short", "--fencing", "none", "--no-margin", "--format", f.name}
			code, out, stderr := locksim(t.Context(), args...)
			require.Equal(t, exitOK, code, stderr)
			require.NotEmpty(t, begins[f.name])
			require.True(t, strings.HasPrefix(strings.ToLower(out), strings.ToLower(begins[f.name])), "%.100s", out)
			_, again, _ := locksim(t.Context(), append(args, "--jobs", "7")...)
			require.Equal(t, out, again)
			require.Contains(t, help, "  "+f.name+" ")
			require.Contains(t, help, f.summary)
		})
	}
}

// TestASlideIsDrawnAsPixels by each program that is installed, with the same lanes and colours.
func TestASlideIsDrawnAsPixels(t *testing.T) {
	list := painters
	defer func() { painters = list }()
	args := []string{"run", "fencing-33-34", "--no-margin", "--fencing", "none", "--format", "png"}
	var drawn []image.Image
	for i, p := range list[:long.Pick(1, 1, len(list))] {
		if _, err := exec.LookPath(p.name); err != nil {
			continue
		}
		painters = list[i : i+1]
		code, out, stderr := locksim(t.Context(), append(args, "--lanes", "a,b,storage")...)
		require.Equal(t, exitOK, code, stderr)
		picture, err := png.Decode(strings.NewReader(out))
		require.NoError(t, err, p.name)
		require.Equal(t, image.Rect(0, 0, 1920, 1080), picture.Bounds(), p.name)
		drawn = append(drawn, picture)
	}
	for _, d := range drawn { // the bar of what a was granted, in its colour
		r, g, b, _ := d.At(700, 582).RGBA()
		require.Equal(t, [3]uint32{0x00, 0x72, 0xb2}, [3]uint32{r >> 8, g >> 8, b >> 8})
	}
	painters = nil
	code, _, stderr := locksim(t.Context(), args...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "needs the program rsvg-convert")
}

func TestPicturesOfManySchedulesGoToAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures") + "/"
	write := func(format string, args ...string) {
		_, stdout, stderr := locksim(t.Context(), append([]string{"run", "--no-margin", "--format", format, "-o", dir}, args...)...)
		require.Empty(t, stderr)
		require.Empty(t, stdout)
	}
	write("svg", "testdata/story.yaml", "--style", "careful")
	requireFiles(t, dir, "story-long.svg", "story-short.svg")
	write("log", "testdata/story.yaml", "--variant", "short")
	write("html", "testdata/story.yaml", "fencing-33-34", "testdata/namesake.yaml")
	requireFiles(t, dir, "fencing-33-34-2.html", "fencing-33-34.html", "story-long.svg",
		"story-short-fenced-write.jsonl", "story-short-none.jsonl", "story-short.svg", "story.html")
	text, err := os.ReadFile(dir + "story-short.svg")
	require.NoError(t, err)
	alone := []string{"run", "--no-margin", "--format", "svg", "testdata/story.yaml", "--style", "careful", "--variant", "short"}
	_, stdout, _ := locksim(t.Context(), alone...)
	require.Equal(t, stdout, string(text))
	_, narrow, _ := locksim(t.Context(), append(alone, "--width", "80")...)
	require.NotEqual(t, stdout, narrow)
}

func TestOneDocumentTakesOneSchedule(t *testing.T) {
	for _, x := range []struct{ args, says string }{
		{"testdata/story.yaml --format svg", "--format svg would write 2 documents: choose --variant long or short, " +
			"or write all with -o FOLDER/"},
		{"testdata/story.yaml fencing-33-34 --format mermaid", "choose one scenario, or "},
		{"testdata/story.yaml --variant short --format log", "choose --fencing none or fenced-write"},
		{"testdata/wrong.yaml testdata/wrong.yaml --format svg", "--format svg would write 2 documents: choose the scenario once"},
		{"testdata/story.yaml --format html --seeds 2", "--format html shows one seed"},
		{"testdata/story.yaml --format svgg", `did you mean "svg"?`},
		{"testdata/story.yaml --format json -o testdata/", "testdata/ is a directory"},
	} {
		code, stdout, stderr := locksim(t.Context(), append([]string{"run"}, strings.Fields(x.args)...)...)
		require.Equal(t, exitUsage, code, x.args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, x.says)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestAnInterruptLeavesWholePictures(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := locksim(ctx, "run", "testdata/story.yaml", "--format", "svg", "-o", dir)
	require.Equal(t, exitInterrupted, code)
	require.Contains(t, stderr, "are in "+dir)
	requireFiles(t, dir)
}

func TestTheStepSummaryIsAppended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.md")
	require.NoError(t, os.WriteFile(file, []byte("before\n"), 0o644))
	e := plainEnv()
	e.stepSummary = file
	var out, stderr bytes.Buffer
	code := runIn(t.Context(), e, []string{"run", "testdata/wrong.yaml", "--format", "github"}, &out, &stderr)
	require.Equal(t, exitDiffers, code)
	require.Contains(t, out.String(), "::error file=testdata/wrong.yaml,line=")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "before\n## locksim\n"))
	require.Contains(t, string(text), "a believes │", "there is a picture")
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("x"), reports.StepSummaryLimit-100), 0o644))
	runIn(t.Context(), e, []string{"run", "testdata/wrong.yaml", "--format", "github"}, &out, &stderr)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(reports.StepSummaryLimit))
	e.stepSummary = filepath.Join(file, "no-such-folder")
	require.Equal(t, exitUsage, runIn(t.Context(), e, []string{"run", "testdata/story.yaml", "--format", "github"}, &out, &stderr))
}

func TestSeedsThatDifferAreShownToBuildServers(t *testing.T) {
	code, out, stderr := locksim(t.Context(), "run", "testdata/wrong.yaml", "--seeds", "30", "--format", "junit")
	require.Equal(t, exitDiffers, code, stderr)
	require.NoError(t, xml.Unmarshal([]byte(out), &struct{}{}))
	require.Contains(t, out, "30 of 30 seeds: 0x1, ")
	require.Contains(t, out, "a believes │", "one of them is played again for its picture")
}

func TestAStoryTellsHowMuchIsNeeded(t *testing.T) {
	_, out, _ := locksim(t.Context(), "run", "fencing-33-34", "--format", "timeline")
	var list []reports.Schedule
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, 1)
	require.Len(t, list[0].Boundary, 1)
	require.Regexp(t, `^The pause of a must be about 9\.\d+s or more; with 9\.\d+s the resource stays safe\.$`, list[0].Boundary[0])
}
