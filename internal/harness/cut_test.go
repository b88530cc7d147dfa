package harness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/checker"
)

// TestARunThatIsCutOffIsUnknown plays runs that end by until, and says which of them could have gone on otherwise.
func TestARunThatIsCutOffIsUnknown(t *testing.T) {
	const long = "lock: {algorithm: set-nx-lua, ttl: 70s}\nclients: {a: {work: 90s}, b: {start: 1s, work: 1s}}\n"
	const short = "lock: {algorithm: set-nx-lua, ttl: 10s}\n"
	const eternal = "lock: {algorithm: setnx}\n"
	const advisory = "lock: {algorithm: pg-advisory, ttl: 10s}\nservers: {kind: postgres, "
	const lostRelease = "lock: {algorithm: setnx, timeout: 100ms}\nservers: {persistence: everysec}\nclients: {a: {work: 1s}, b: {start: 500ms}}\n" +
		"faults: [{after: {node: redis-1, does: execute, what: release}, crash: redis-1, kind: host, restart: 2s}]\n"
	const deadWaiter = "lock: {algorithm: redisson-fair, ttl: 1s}\nclients: {a: {work: 500ms}, b: {start: 100ms}, c: {start: 200ms}}\n" +
		"faults: [{at: 300ms, crash: b}]\n"
	const twoDead = "lock: {algorithm: redisson-fair, ttl: 1s}\nclients: {a: {work: 500ms}, b: {start: 100ms}, c: {start: 200ms}, d: {start: 300ms}}\n" +
		"faults: [{at: 400ms, crash: b}, {at: 400ms, crash: c}]\n"
	const slowServer = short + "clients: {a: {work: 5s}, b: {start: 1s}}\nclocks: {redis-1: {rate: -900000ppm}}\n" +
		"faults: [{at: 2s, crash: a}]\n"
	const behind = "lock: {algorithm: s3-lease, ttl: 10s}\nservers: {kind: object}\nclients: {a: {work: 1s}, b: {start: 2s, work: 1s}}\n" +
		"clocks: {b: {offset: -10m}}\nfaults: [{at: 500ms, crash: a}]\n"
	for _, c := range []struct {
		name, text string
		verdict    checker.Verdict
		reason     string
	}{
		{"work that is cut off", long + "until: 60s", checker.Undecided,
			"the run ended at 60s while a was in its critical section"},
		{"the same work with the default end", long, checker.Violated, ""},
		{"a wait that is cut off", eternal + "clients: {a: {work: 20s}, b: {start: 1s}}\n" +
			"faults: [{after: {node: a, does: acquired}, plus: 5s, crash: a}]\nuntil: 10s", checker.Undecided,
			"the run ended at 10s while b was waiting for the lock"},
		{"a wait that nothing ends", eternal + "clients: {a: {work: 20s}, b: {start: 1s}}\n" +
			"faults: [{after: {node: a, does: acquired}, plus: 5s, crash: a}]\nuntil: 60s", checker.Held, ""},
		{"a pause that heals too late", short + "clients: {a: {work: 1s}, b: {start: 1s, wait: try}}\n" +
			"faults: [{after: {node: a, does: acquired}, pause: a, for: 90s}]\nuntil: 60s", checker.Undecided,
			"the run ended at 60s while a was in its critical section"},
		{"a pause for good", short + "clients: {a: {work: 1s}, b: {start: 1s, wait: try}}\n" +
			"faults: [{after: {node: a, does: acquired}, pause: a}]\nuntil: 60s", checker.Held, ""},
		{"work that hangs", eternal + "clients: {a: {work: forever}, b: {start: 1s}}\nuntil: 60s", checker.Held, ""},
		{"a pause between sections", short + "clients: {a: {work: 1s, sections: 2, think: 90s}}\nuntil: 60s", checker.Undecided,
			"the run ended at 60s while a had critical sections left"},
		{"a pause between sections of one task, while another holds for good", eternal +
			"clients: {a: {work: forever, tasks: 2, sections: 2, think: 90s, wait: try}, b: {start: 1s}}\nuntil: 60s", checker.Undecided,
			"the run ended at 60s while a had critical sections left"},
		{"a client that is yet to be restarted", short + "clients: {a: {work: 1s}, b: {start: 500ms, wait: 100ms}}\n" +
			"faults: [{after: {node: a, does: release}, crash: a, restart: 90s}]\nuntil: 60s", checker.Undecided,
			"the run ended at 60s while a had critical sections left"},
		{"a wait that ends by a clock that is behind, when its client asks again", behind, checker.Undecided,
			"the run ended at 10m54.5s while b was waiting for the lock"},
		{"the same wait when it has asked", behind + "until: 20m", checker.Vacuous, "nobody else asked for the lock while somebody believed to hold it"},
		{"a wait that is not yet too long", eternal + "clients: {a: {work: forever}, b: {start: 1s}}\nprogress: 70s\nuntil: 60s",
			checker.Undecided, "the run ended at 60s while b was waiting for the lock"},
		{"a wait that is too long", eternal + "clients: {a: {work: forever}, b: {start: 1s}}\nprogress: 50s\nuntil: 60s", checker.Held, ""},
		{"a release that a server has yet to execute", short + "clients: {a: {work: 1s, stays: true}, b: {start: 500ms, wait: 100ms}}\n" +
			"faults: [{before: {node: redis-1, does: receive, what: release}, pause: redis-1, for: 90s}]\nuntil: 60s", checker.Undecided,
			"the run ended at 60s while fault-1 kept back what clients had sent"},
		{"a released key that a power loss brings back", lostRelease + "until: 60s", checker.Held, ""},
		{"one that may yet go", lostRelease + "until: 30s", checker.Undecided, "the run ended at 30s while b was waiting for the lock"},
		{"a connection that the server will end", advisory + "idle-timeout: 100s}\nclients: {a: {work: forever}, b: {start: 1s}}\nuntil: 60s",
			checker.Undecided, "the run ended at 60s while b was waiting for the lock"},
		{"a dead host's that it will end", advisory + "keep-alive: 100s}\nclients: {a: {work: 10s}, b: {start: 1s}}\n" +
			"faults: [{at: 2s, crash: a, kind: host}]\nuntil: 60s", checker.Undecided, "the run ended at 60s while b was waiting for the lock"},
		{"one that nothing ends", "lock: {algorithm: pg-advisory, ttl: 10s}\nservers: {kind: postgres}\nclients: {a: {work: forever}, b: {start: 1s}}\nuntil: 60s", checker.Held, ""},
		{"the same connection with the default end", advisory + "idle-timeout: 100s}\nclients: {a: {work: forever}, b: {start: 1s}}",
			checker.Violated, ""},
		{"a dead waiter's place in a list", deadWaiter + "until: 10s", checker.Undecided, "the run ended at 10s while c was waiting for the lock"},
		{"the same place with the default end", deadWaiter, checker.Held, ""},
		{"the places of several", twoDead + "until: 20s", checker.Undecided, "the run ended at 20s while d was waiting for the lock"},
		{"the same places with the default end", twoDead, checker.Held, ""},
		{"a place before one that nothing lets in", strings.Replace(deadWaiter, "[", "[{at: 5s, crash: redis-1}, ", 1) + "until: 30s", checker.Held, ""},
		{"a key on a server whose clock is slow", slowServer + "until: 60s", checker.Undecided,
			"the run ended at 60s while b was waiting for the lock"},
		{"the same key with the default end", slowServer, checker.Held, ""},
		{"a run that ends by itself", short + "clients: {a: {work: 1s}, b: {start: 500ms}}\nuntil: 60s", checker.Held, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := playOnce(t, "name: x\n"+c.text)
			require.Equal(t, c.verdict.String(), result.Report.Verdicts[checker.MutualExclusion].String())
			require.Equal(t, c.reason, result.Report.Reasons[checker.MutualExclusion])
		})
	}
}
