package profile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireFile compares with a file that UPDATE=1 rewrites.
func requireFile(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "rewrite it by UPDATE=1 go test ./internal/profile")
	require.Equal(t, string(want), got, "rewrite it by UPDATE=1 go test ./internal/profile")
}

func inTestdata(name string) (io.ReadCloser, error) { return os.Open(filepath.Join("testdata", name)) }

// of opens the same text under any name.
func of(text string) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

// TestSamplesOfRealPrograms reads what real programs have written: go 1.26.8, OpenJDK 17.0.15, redis-cli 7.0.15, iputils 20221126,
// chrony 4.3, and the Go port of HdrHistogram 1.4.0.
func TestSamplesOfRealPrograms(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct{ field, law string }{
		{"pauses", "{file: gctrace.log}"}, {"pauses", "{file: jvm17.log}"}, {"pauses", "{file: jvm17-gc.log}"}, {"pauses", "{file: jvm17-zgc.log}"},
		{"latency", "{file: hdrhistogram.hgrm, unit: ms}"}, {"pauses", "{file: jhiccup.hlog}"}, {"pauses", "{file: redis-intrinsic-latency.txt}"},
		{"latency", "{file: ping.txt}"}, {"clocks", "{file: chronyc.txt}"},
	} {
		text := map[string]string{
			"pauses": "pauses: {length: %s}\n", "latency": "latency: %s\n", "clocks": "clocks: {of: servers, drift: %s}\n",
		}[c.field]
		p, err := Read("my.yaml", fmt.Appendf(nil, text, c.law), inTestdata)
		require.NoError(t, err, c.law)
		switch c.field {
		case "pauses":
			fmt.Fprintf(&b, "%s: %s\n  p50 %v, p90 %v; %s\n", c.law, p.Pauses[0].Length, p.Pauses[0].Length.Quantile(.5), p.Pauses[0].Length.Quantile(.9),
				p.Pauses[0].Rate)
		case "latency":
			fmt.Fprintf(&b, "%s: %s\n  p50 %v, p90 %v\n", c.law, p.Latency, p.Latency.Quantile(.5), p.Latency.Quantile(.9))
		default:
			fmt.Fprintf(&b, "%s: %s\n", c.law, p.Clocks[0].Drift)
		}
	}
	requireFile(t, "testdata/samples.golden", b.String())
}

// repeated makes a file long enough for a fit, by lines with ascending values.
func repeated(line string) string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, line+"\n", i+1)
	}
	return b.String()
}

// TestOtherVersionsAreRead: formats that no program of this machine writes, by their documentation.
func TestOtherVersionsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		median time.Duration
	}{
		"jdk 8":               {repeated("2020-03-16T17:49:13.785+0800: 10.5: Total time for which application threads were stopped: 0.00%02d354 seconds, Stopping threads took: 0.0001536 seconds"), 3 * ms},
		"jdk 8 with commas":   {repeated("2023-03-08T15:10:02.498+0000: Total time for which application threads were stopped: 0,00%02d133 seconds, Stopping threads took: 0,0002107 seconds"), 3 * ms},
		"jdk 11":              {repeated("[2021-09-14T11:40:53.379-0500][144.036s][info][safepoint     ] Total time for which application threads were stopped: 0.00%02d546 seconds, Stopping threads took: 0.0002048 seconds"), 3 * ms},
		"jdk 24":              {repeated(`[144.036s][info][safepoint] Safepoint "ICBufferFull", Time since last: 1 ns, Reaching safepoint: 1 ns, At safepoint: 1 ns, Leaving safepoint: 2 ns, Total: %02d00000 ns`), 3 * ms},
		"macOS ping":          {repeated("64 bytes from 10.0.0.1: icmp_seq=1 ttl=57 time=%d.313 ms"), 15 * ms},
		"Windows ping":        {repeated("Reply from 10.0.0.1: bytes=32 time=%dms TTL=57"), 15 * ms},
		"numbers":             {repeated("%dms"), 30 * ms},
		"numbers with spaces": {"# lengths\n\n" + repeated(" %d ms "), 30 * ms},
	} {
		p, err := Read("my.yaml", []byte("latency: {file: x}\n"), of(c.text))
		require.NoError(t, err, name)
		require.InDelta(t, float64(c.median), float64(p.Latency.Quantile(.5)), float64(c.median)/10, name)
	}
}

func TestTablesHaveColumns(t *testing.T) {
	table := "time;length;note\n" + repeated("2024-01-01;%d;\"x\"")
	for law, want := range map[string]string{
		"{file: x, column: length, unit: ms}": "",
		"{file: x, column: '2', unit: ms}":    "",
		"{file: x, column: lenght, unit: ms}": `x:1:1: no column "lenght"; want one of time, length, note, or a number from 1`,
		"{file: x, unit: ms}":                 "x:1:1: 3 columns; want one, or the name or the number of a column in column",
		"{file: x, column: length}":           `x:2:1: "1" has no unit; want a number with a unit such as 3ms, or the field unit beside file`,
	} {
		p, err := Read("my.yaml", []byte("latency: "+law+"\n"), of(table))
		if want != "" {
			require.EqualError(t, err, want, law)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, 30*ms, p.Latency.Quantile(.5))
	}
}

// TestRateIsThatOfTheLog: a log has a length, and a program that was started again adds to it.
func TestRateIsThatOfTheLog(t *testing.T) {
	var b strings.Builder
	for range 2 {
		for i := range 50 {
			fmt.Fprintf(&b, "gc %d @%d.000s 2%%: 0.%02d+0.39+0.10 ms clock, 0.21+0.88/0.52/0+0.80 ms cpu, 4->5->1 MB, 4 MB goal, 8 P\n", i, 2*(i+1), i+10)
		}
	}
	p, err := Read("my.yaml", []byte("pauses: {length: {file: x}}\n"), of(b.String()))
	require.NoError(t, err)
	require.Equal(t, "1/s (200 in 3m20s)", p.Pauses[0].Rate.String())
	require.Len(t, p.Pauses[0].Rate.Refits(7, 1), 7)

	b.Reset()
	for i := range 50 { // of two programs that run at the same time
		fmt.Fprintf(&b, "gc %d @%d.0s 2%%: 0.%02d+0.39+0.10 ms clock, x\ngc %d @%d.0s 2%%: 0.%02d+0.39+0.10 ms clock, x\n", i, i+200, i+10, i, i, i+30)
	}
	_, err = Read("my.yaml", []byte("pauses: {length: {file: x}}\n"), of(b.String()))
	require.ErrorContains(t, err, "pauses.rate: missing, and x has no times that tell how often")

	_, err = Read("my.yaml", []byte("pauses: {length: {file: x}}\n"), of(repeated("%dms")))
	require.EqualError(t, err, "my.yaml:1:9: pauses.rate: missing, and x has no times that tell how often; want a rate such as 2/s, 1000/day or every 7d")
}

// TestALogMayStillBeWritten: its last line may end anywhere, if it is a format with lines of its own.
func TestALogMayStillBeWritten(t *testing.T) {
	text := repeated("gc 1 @1.012s 2%%: 0.%03d+0.39+0.00 ms clock, 4->5->1 MB") + "gc 2 @70.015s 2%: 0.026+"
	_, err := Read("my.yaml", []byte("pauses: {length: {file: x}}\n"), of(text))
	require.NoError(t, err)
	_, err = Read("my.yaml", []byte("pauses: {length: {file: x}}\n"), of(text+"\n"))
	require.ErrorContains(t, err, "x:61:1: no line of gctrace")
}

// TestLongFilesAreReadInBoundedMemory: a million lines, and a line without an end.
func TestLongFilesAreReadInBoundedMemory(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		b := bufio.NewWriterSize(w, 1<<16)
		for i := range 1_000_000 {
			fmt.Fprintf(b, "%d.%03d\n", i%977, i%1000)
		}
		b.Flush()
		w.Close()
	}()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p, err := Read("my.yaml", []byte("latency: {file: x, unit: ms}\n"), func(string) (io.ReadCloser, error) { return r, nil })
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(4<<20))
	require.InDelta(t, 488, float64(p.Latency.Quantile(.5)/ms), 5)

	_, err = Read("my.yaml", []byte("latency: {file: x, unit: ms}\n"), func(string) (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(sevens{}, 64<<20)), nil
	})
	require.ErrorContains(t, err, "x:1:1: no known format")
}

// sevens is a line without an end.
type sevens struct{}

func (sevens) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '7'
	}
	return len(p), nil
}
