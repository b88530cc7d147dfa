package parameter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/scenarios"
)

func TestShortPathsNameTheNumbersOfAScenario(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(`name: x
lock: {algorithm: set-nx-lua}
clients: {a: {work: 2s}, b: {}}
faults:
  - {at: 1s, pause: a, for: 3s}
  - {name: down, at: 1s, crash: redis-1, restart: 3s}
  - {name: gc, at: 1s, pause: holder, for: 3s}
  - {name: gc-2, at: 2s, pause: holder, for: 3s}
`))
	require.NoError(t, err)
	for path, want := range map[string]string{
		"lock.ttl":            "lock.ttl",
		"faults[0].for":       "faults[0].for",
		"a.pause":             "faults.fault-1.for",
		"pause of a":          "faults.fault-1.for",
		"a.work":              "clients.a.work",
		"b.work":              "clients.b.work",
		"b.start":             "clients.b.start",
		"redis-1.downtime":    "faults.down.restart",
		"downtime of redis-1": "faults.down.restart",
		"down.at":             "faults.down.at",
		"fault-1.for":         "faults.fault-1.for",
	} {
		got, err := Path(s, path)
		require.NoError(t, err, path)
		require.Equal(t, want, got, path)
		value := "1s"
		_, err = scenarios.Parse(s.Name, s.YAML(), scenarios.Change{Path: got, Value: value})
		require.NoError(t, err, path)
	}
	for path, want := range map[string]string{
		"holder.pause": "holder.pause means any of faults.gc.for, faults.gc-2.for; want one of them",
		"b.pause":      "there is no pause of b; want a field of the file, such as lock.ttl, or a number of this scenario: a.pause, redis-1.downtime, holder.pause, a.work",
		"lokc.ttl":     `there is no field "lokc.ttl"; did you mean "lock.ttl"?`,
		"":             `there is no field ""; want one of the file`,
		"z.z":          `there is no field "z.z"; want one of the file`,
	} {
		_, err := Path(s, path)
		require.ErrorContains(t, err, want, path)
	}
}

// TestNumbersAreFieldsOfTheFile changes each number that is told of by its path.
func TestNumbersAreFieldsOfTheFile(t *testing.T) {
	named, err := scenarios.All()
	require.NoError(t, err)
	changed := 0
	for _, s := range named {
		for _, c := range s.Cases()[:1] {
			for _, p := range Of(c.Scenario) {
				size := p.Size() + 1_000_000
				value := p.Amount(size)
				if p.Rate {
					value = p.Amount(p.Size() + 1)
					size = p.Size() + 1
				}
				again, err := scenarios.Parse(s.Name, c.Scenario.YAML(), scenarios.Change{Path: p.ID, Value: value})
				if err != nil {
					continue // it contradicts something else
				}
				other, ok := Find(again, p.ID)
				require.True(t, ok, "%s: %s", s.Name, p.ID)
				require.Equal(t, size, other.Size(), "%s: %s", s.Name, p.ID)
				changed++
			}
		}
	}
	require.Greater(t, changed, 300)
}
