package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheDefaultEndFollowsFromTheScenario: each thing that takes time puts off the end of a run whose file names none.
func TestTheDefaultEndFollowsFromTheScenario(t *testing.T) {
	end := func(text string) time.Duration {
		s, err := Parse("x.yaml", []byte("name: x\n"+text))
		require.NoError(t, err)
		return s.End()
	}
	lock := "lock: {algorithm: set-nx-lua, ttl: 10s}\n"
	require.Equal(t, time.Minute, end(lock+"clients: {a: {work: 1s}}"))
	require.Equal(t, 5*time.Second, end(lock+"clients: {a: {work: 1s}}\nuntil: 5s"))
	require.Equal(t, 370*time.Second, end("lock: {algorithm: set-nx-lua, ttl: 70s}\nclients: {a: {work: 90s}}"))
	require.Equal(t, 3*100*time.Second+40*time.Second, end(lock+"clients: {a: {work: 90s, think: 10s, sections: 3}}"))
	require.Equal(t, 200*time.Second+40*time.Second, end(lock+"clients: {a: {work: 100s, count: 2}}"))
	require.Equal(t, 90*time.Second+40*time.Second, end(lock+"clients: {a: {start: 90s}}"))
	require.Equal(t, 95*time.Second+40*time.Second, end(lock+"clients: {a: {wait: 90s, again: 5s}}"))
	require.Equal(t, time.Minute, end(lock+"clients: {a: {work: forever, wait: forever}}"))
	require.Equal(t, 100*time.Second+50*time.Second, end(lock+"clients: {a: {}}\nfaults: [{at: 20s, pause: a, for: 80s}]"))
	require.Equal(t, 100*time.Second+40*time.Second, end(lock+"clients: {a: {}}\nprogress: 50s"))
	require.Equal(t, 2*140*time.Second, end(lock+"clients: {a: {work: 100s}}\nclocks: {a: {rate: -500000ppm}}"))
	require.Equal(t, maxDuration, end(lock+"clients: {a: {work: 900h, sections: 10000, count: 1000}}"))
}
