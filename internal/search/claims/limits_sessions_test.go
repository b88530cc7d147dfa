package claims_test

import (
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// limitsOfSessions is where the promises of the locks of etcd, Consul, Chubby and Hazelcast end.
func limitsOfSessions() []limit {
	const exclusion = checker.MutualExclusion
	attentive := []history.Style{history.Attentive}
	pause, cut := []search.Kind{search.ClientPause}, []search.Kind{search.SessionCut, search.Cut}
	none := []time.Duration{0}
	return []limit{
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "etcd", Faults: pause},
			Why: `The lease ends while its client stands still.`},
		{Name: "done-too-late", Property: exclusion, Model: search.FaultModel{Lock: "etcd", Faults: cut, Styles: attentive},
			Why: `The library counts the lease from the last answer and looks once a second; the servers count it from the question.`},
		{Name: "lease-lost-in-queue", Property: exclusion, Model: search.FaultModel{
			Lock: "etcd-no-recheck", Faults: []search.Kind{search.ClientPause, search.EndSession},
		},
			Why: `The lease of a client has ended while it waited; the key before its own goes, and it holds beside another.`},
		{Name: "two-tasks", Property: exclusion, Model: search.FaultModel{Lock: "etcd-shared-lease", Tasks: 2}, Twin: "etcd",
			Why: `Both tasks find the key that has the name of their lease.`},
		{Name: "unfenced", Property: checker.Resource, Model: search.FaultModel{Lock: "etcd", Faults: pause},
			Why: `Two clients that believe to hold read the same version.`},
		{Name: "late-notice", Property: exclusion, Model: search.FaultModel{
			Lock: "consul", Faults: cut, Styles: attentive, Renewed: true, LockDelays: []time.Duration{time.Second},
		}, Why: `A query of which nothing is heard is no notice.`},
		{Name: "no-lock-delay", Property: exclusion, Model: search.FaultModel{Lock: "consul", Faults: pause, LockDelays: none},
			Why: `The session ends while its client stands still, and the next one holds at once.`},
		{Name: "ended", Property: exclusion, Model: search.FaultModel{Lock: "consul",
			Faults: []search.Kind{search.EndSession}},
			Why: `The servers end a session that lives. A careless client works on for longer than the lock-delay.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "chubby", Faults: pause},
			Why: `The session and the lock-delay end while the client stands still.`},
		{Name: "no-lock-delay", Property: exclusion, Model: search.FaultModel{
			Lock: "chubby", Faults: pause, Styles: attentive, LockDelays: none,
		},
			Why: `The session ends while its client stands still, which has yet to find itself in jeopardy when it goes on.`},
		{Name: "unfenced", Property: checker.Resource, Model: search.FaultModel{Lock: "chubby", Faults: pause,
			LockDelays: none},
			Why: `Two clients that believe to hold read the same version.`},
		{Name: "overrun", Property: exclusion, Model: search.FaultModel{Lock: "hazelcast-fenced", Faults: pause, Styles: attentive},
			Why: `The session ends while its client stands still, and nobody tells the holder when it goes on.`},
		{Name: "clock", Property: exclusion, Model: search.FaultModel{
			Lock: "hazelcast-fenced", Faults: []search.Kind{search.ServerAhead}, Styles: attentive,
		}, Why: `The leader counts sessions on its wall clock, which steps.`},
		{Name: "unfenced", Property: checker.Resource, Model: search.FaultModel{Lock: "hazelcast-fenced", Faults: pause},
			Why: `Two clients that believe to hold read the same version.`},
		{Name: "failover", Property: checker.ExclusionAtService, Model: search.FaultModel{
			Lock: "hazelcast-unsafe", Faults: []search.Kind{search.ServerCrash, search.PowerLoss, search.Partition},
		}, Twin: "hazelcast-fenced", Why: `The backup takes the owner's place without what it has not been sent.`},
		{Name: "tokens", Property: checker.FencingOrder, Model: search.FaultModel{
			Lock: "hazelcast-unsafe", Faults: []search.Kind{search.ServerCrash, search.PowerLoss, search.Partition},
		}, Twin: "hazelcast-fenced", Why: `The backup counts requests from where the owner's last one left it.`},
	}
}
