package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAReportSaysWhatIsUnusual has a scenario with a client of another style than the rest, a clock that is set and processes that
// share a source of randomness: none of them may be missing from what a report says it assumes.
func TestAReportSaysWhatIsUnusual(t *testing.T) {
	const plain = "name: unusual\ntitle: Unusual\nlock: {algorithm: set-nx-lua, ttl: 10s}\n"
	for text, want := range map[string]string{
		"clients: {a: {work: 1s}, b: {work: 1s}}\n":                                                      "accurate clocks; what servers have acknowledged is in memory alone; no fault;",
		"clients: {a: {work: 1s, style: careful}, b: {work: 1s}}\n":                                      "careless clients (a careful)",
		"clients: {a: {work: 1s}, b: {work: 1s}}\nfaults: [{at: 1s, clock: a, step: 1h}]\n":              "accurate clocks but for a; what servers have acknowledged is in memory alone; no other fault;",
		"clients: {a: {work: 1s}, b: {work: 1s}}\nfaults: [{at: 0s, same-random: [a, b]}]\n":             "1 shared random source, no other fault;",
		"clients: {a: {work: 1s}, b: {work: 1s}}\nclocks: {b: {rate: 100ppm}}\n":                         "accurate clocks but for b; what servers have acknowledged is in memory alone; no other fault;",
		"clients: {a: {work: 1s}, b: {work: 1s}}\nfaults: [{at: 1ms, pause: a, for: 1s}]\nexpect: any\n": "1 pause, no other fault;",
	} {
		file := filepath.Join(t.TempDir(), "unusual.yaml")
		require.NoError(t, os.WriteFile(file, []byte(plain+text), 0o600))
		_, out, stderr := locksim(t.Context(), "run", file, "--no-margin")
		require.Empty(t, stderr)
		require.Contains(t, strings.Join(strings.Fields(out), " "), want)
	}
}
