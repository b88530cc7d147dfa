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
	fair := "lock: {algorithm: redisson-fair, ttl: 10s}\n"
	database := "lock: {algorithm: pg-advisory, ttl: 10s}\nservers: {kind: postgres, "
	require.Equal(t, time.Minute, end(lock+"clients: {a: {work: 1s}}"))
	require.Equal(t, 5*time.Second, end(lock+"clients: {a: {work: 1s}}\nuntil: 5s"))
	require.Equal(t, 370*time.Second, end("lock: {algorithm: set-nx-lua, ttl: 70s}\nclients: {a: {work: 90s}}"))
	require.Equal(t, 3*100*time.Second+40*time.Second, end(lock+"clients: {a: {work: 90s, think: 10s, sections: 3}}"))
	require.Equal(t, 200*time.Second+40*time.Second, end(lock+"clients: {a: {work: 100s, count: 2}}"))
	require.Equal(t, 90*time.Second+40*time.Second, end(lock+"clients: {a: {start: 90s}}"))
	require.Equal(t, 95*time.Second+40*time.Second, end(lock+"clients: {a: {wait: 90s, again: 5s}}"))
	require.Equal(t, time.Minute, end(lock+"clients: {a: {work: forever, wait: forever}}"))
	require.Equal(t, 100*time.Second+50*time.Second, end(lock+"clients: {a: {}}\nfaults: [{at: 20s, pause: a, for: 80s}]"))
	require.Equal(t, 100*time.Second+80*time.Second+50*time.Second,
		end(lock+"clients: {a: {}}\nfaults: [{at: 20s, cut: {from: a, to: storage}, for: 80s}]"), "what was lost is sent again later")
	require.Equal(t, 100*time.Second+40*time.Second, end(lock+"clients: {a: {}}\nprogress: 50s"))
	require.Equal(t, 2*140*time.Second, end(lock+"clients: {a: {work: 100s}}\nclocks: {a: {rate: -500000ppm}}"))
	require.Equal(t, 40*time.Second+2*100*time.Second, end(database+"idle-timeout: 100s}\nclients: {a: {work: forever}}"))
	require.Equal(t, 10*time.Second+50*time.Second+2*100*time.Second,
		end(database+"keep-alive: 100s}\nclients: {a: {work: 8s}}\nfaults: [{at: 2s, crash: a, kind: host}]"))
	require.Equal(t, 10*time.Second+50*time.Second+2*100*time.Second,
		end(fair+"clients: {a: {work: 8s}, b: {}, c: {}}\nfaults: [{at: 2s, crash: b}]"))
	require.Equal(t, 10*time.Second+50*time.Second+10*time.Second+200*time.Second+3*200*time.Second,
		end(fair+"clients: {a: {work: 8s}, b: {}, c: {wait: 200s}}\nfaults: [{at: 2s, crash: b, restart: 10s}]"))
	require.Equal(t, time.Minute, end(fair+"clients: {a: {work: 8s}, b: {}, c: {}}"))
	require.Equal(t, 2*(20*time.Second+60*time.Second+80*time.Second), end(lock+"clients: {a: {}}\nclocks: {a: {rate: -500000ppm}}\n"+
		"faults: [{at: 10s, clock: redis-1, step: -80s}, {at: 10s, crash: a}]"))
	require.Equal(t, 100*time.Second+40*time.Second+90*time.Second,
		end(lock+"clients: {a: {work: 100s}, b: {}}\nclocks: {a: {offset: 30s}, b: {offset: -60s}}"), "an expiry that a has written, on the clock of b")
	require.Equal(t, maxDuration, end(lock+"clients: {a: {work: 100s}}\nclocks: {a: {rate: -999999ppm}}\nprogress: 900h"))
	require.Equal(t, maxDuration, end(lock+"clients: {a: {work: 900h, sections: 10000, count: 1000}}"))
}
