package fuzz

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

func TestAConfigurationHasOneText(t *testing.T) {
	one, err := json.Marshal(Config{Lock: "redlock", Faults: []search.Kind{search.Delay, search.ClientPause}})
	require.NoError(t, err)
	require.JSONEq(t, `{"lock": "redlock", "faults": ["client-pause", "delay"], "styles": ["careless"], "fencing": ["none"],
		"properties": [
			"mutual-exclusion", "exclusion-at-service", "resource", "fencing-order", "release-safety", "progress",
			"leak", "silent-loss"
		]}`, string(one))
	other, err := json.Marshal(Config{
		Lock: "redlock", Faults: []search.Kind{search.ClientPause, search.Delay, search.ClientPause},
		Styles: []history.Style{history.Careless}, Properties: DefaultProperties(),
	})
	require.NoError(t, err)
	require.Equal(t, string(one), string(other))
}

func TestAConfigurationIsReadAsItWasWritten(t *testing.T) {
	base, err := scenarios.Load("fencing-33-34")
	require.NoError(t, err)
	for _, c := range []Config{
		{Lock: "zk-sequential", Faults: search.Kinds(), Drift: 5, Properties: []checker.Property{checker.Progress}},
		{Base: base, Faults: []search.Kind{search.Drift}, Styles: []history.Style{history.Careful, history.Attentive}},
	} {
		text, err := json.Marshal(c)
		require.NoError(t, err)
		var read Config
		require.NoError(t, json.Unmarshal(text, &read))
		again, err := json.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		require.Empty(t, c.differences(read))
		a, err := New(c, locks.Set{})
		require.NoError(t, err)
		b, err := New(read, locks.Set{})
		require.NoError(t, err)
		for n := range uint64(30) {
			require.Equal(t, string(a.Draw(n).YAML()), string(b.Draw(n).YAML()), "what is read draws the same")
		}
	}
}

func TestConfigurationsSayHowTheyDiffer(t *testing.T) {
	a := Config{Lock: "redlock", Faults: []search.Kind{search.Delay}, Drift: 5}
	b := Config{Lock: "redlock", Faults: []search.Kind{search.Cut}, Fencing: []history.Fencing{history.TokenEquality}}
	require.Equal(t, []string{
		"faults delay, not cut", "fencing modes none, not token-equality", "drift 5, not 0",
	}, a.differences(b))
}

func TestWhatCannotBePlayedIsAnError(t *testing.T) {
	story, err := scenarios.Load("lease-overrun")
	require.NoError(t, err)
	require.NotEmpty(t, story.Variants)
	wrong := *story
	wrong.Variants, wrong.Lock.Algorithm = nil, "redlok"
	for problem, c := range map[string]Config{
		`there is no lock "redlok"`: {Lock: "redlok"},
		"the servers of set-nx-lua never meet any of these faults: session-cut": {
			Lock: "set-nx-lua", Faults: []search.Kind{search.SessionCut},
		},
		"lease-overrun has variants":      {Base: story},
		`there is no lock named "redlok"`: {Base: &wrong},
	} {
		_, err := New(c, locks.Set{})
		require.ErrorContains(t, err, problem)
	}
}

// Kinds of faults that cannot hit the deployed servers can never be drawn, so that their absence says nothing.
func TestNeverDrawnNamesOnlyWhatCanHitTheServers(t *testing.T) {
	for _, tc := range []struct {
		lock       string
		impossible []search.Kind
	}{
		{"set-nx-lua", []search.Kind{search.SessionCut, search.EndSession}},
		{"redlock", []search.Kind{
			search.Failover, search.Partition, search.Lag, search.SessionCut, search.EndSession,
		}},
		{"zk-sequential", []search.Kind{search.Evict, search.Snapshot}},
	} {
		h, err := New(Config{Lock: tc.lock, Faults: search.Kinds()}, locks.Set{})
		require.NoError(t, err)
		require.Empty(t, h.NeverDrawn(0, 2_000), tc.lock)
		one := h.NeverDrawn(0, 1)
		require.NotEmpty(t, one, "%s: one run does not have every kind", tc.lock)
		for _, k := range tc.impossible {
			require.NotContains(t, one, k, tc.lock)
		}
	}
}
