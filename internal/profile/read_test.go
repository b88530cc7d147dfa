package profile

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// noFiles is for profiles that name none.
func noFiles(name string) (io.ReadCloser, error) { return nil, os.ErrNotExist }

const whole = `
title: jobs of the shop
acquisitions: 20/s
contention: 5%
work: {length: {p50: 200ms, p99: 2s, tail: pareto}, cpu-bound: true}
latency: {lognormal: {median: 300us, sigma: 0.8}}
pauses:
- {name: gc, rate: 10/h, length: {pareto: {min: 1ms, exponent: 1.2}}}
- {name: host, rate: 1/month, length: {exponential: {mean: 2s}}}
cuts: none
crashes: {rate: 0.5/year, downtime: 10s, keep: nothing}
failovers: {rate: 1/month}
clocks: {of: servers, drift: {p50: 5ppm, max: 200ppm}, steps: {rate: 1/year, length: {p50: 100ms, p99: 2s, tail: exponential}}}
causes: {name: deploys, rate: every 7d, restarts: all, within: 10m, downtime: 5s, keep: nothing}
`

func TestProfileIsRead(t *testing.T) {
	p, err := Read("my.yaml", []byte(whole), noFiles)
	require.NoError(t, err)
	require.Equal(t, "20/s", p.Acquisitions.String())
	require.InDelta(t, .05, p.Contention.Share, 0)
	require.True(t, p.Work.CPU)
	require.InEpsilon(t, .01, p.Work.Length.Tail(2*time.Second), 1e-9)
	require.Equal(t, "gc", p.Pauses[0].Name)
	require.Equal(t, "pauses[1]", p.Pauses[1].Field)
	require.Empty(t, p.Cuts)
	require.Equal(t, "nothing", p.Crashes[0].Keep)
	require.Equal(t, "crashes", p.Crashes[0].Name)
	require.Equal(t, "1/month", p.Failovers[0].Rate.String())
	require.Equal(t, 5*time.Microsecond, p.Clocks[0].Drift.Quantile(.5))
	require.Equal(t, time.Duration(200_000), p.Clocks[0].Drift.Above(0))
	require.Equal(t, "1/week", p.Causes[0].Rate.String())
	require.Equal(t, 10*time.Minute, p.Causes[0].Within)
	require.NoError(t, p.Require("acquisitions", "cuts", "latency"))
}

func TestMissingFieldsAreNamed(t *testing.T) {
	p, err := Read("my.yaml", []byte("acquisitions: 1/s\nwork: {length: 1s}\n"), noFiles)
	require.NoError(t, err)
	require.EqualError(t, p.Require("acquisitions", "failovers", "pauses"), strings.TrimSpace(`
my.yaml:1:1: failovers: missing; want a rate, such as {rate: 1/month}, or none
my.yaml:1:1: pauses: missing; want a rate and a law, such as {length: {file: gc.log}}, or none
`))
}

// TestTheDocumentedExampleIsRead, with real samples for its files.
func TestTheDocumentedExampleIsRead(t *testing.T) {
	page, err := os.ReadFile("../../docs/odds.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	text, _, _ := strings.Cut(rest, "```")
	p, err := Read("my.yaml", []byte(text), func(name string) (io.ReadCloser, error) {
		if name == "gc.log" {
			name = "gctrace.log"
		}
		return inTestdata(name)
	})
	require.NoError(t, err)
	require.NoError(t, p.Require("acquisitions", "contention", "work", "latency", "pauses", "cuts", "crashes", "failovers", "clocks", "causes"))
	require.Contains(t, p.Clocks[0].Drift.String(), "ppm")
}
