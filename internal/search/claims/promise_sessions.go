package claims

import (
	"slices"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/search"
)

// everySession is all that can happen to the services of leases and sessions, which keep what they have acknowledged, and
// to a resource that looks at tokens.
func everySession() search.Menu {
	return search.Menu{
		Faults: search.Kinds(), Storage: network, Tasks: 2, Waits: true, Timeouts: timeouts, Drift: 100_000,
		Fencing: []history.Fencing{history.FencedReadWrite},
	}
}

// ofSessions is what the locks of etcd, Consul and Chubby promise.
func ofSessions() []Claim {
	service := Claim{Name: "service", Property: checker.ExclusionAtService, Menu: everySession(), Why: `
		One log decides, and survives every crash. A lock goes to the next when its holder's release is in the log, or the end
		of its session.`}
	tokens := Claim{Name: "tokens", Property: checker.FencingOrder, Menu: everySession(), Why: `
		The token is a number that the log counts upwards: the revision that made the key, or how often the lock has changed
		hands. Keys stay, so that the count goes on.`}
	release := Claim{Name: "release", Property: checker.ReleaseSafety, Menu: everySession(), Why: `
		A release names the session that holds, or the key that its lease made: if it is late it finds that gone.`}
	rw := Claim{Name: "fenced-read-write", Property: checker.Resource, Menu: everySession(), Why: `
		Tokens grow from holder to holder, so that sections are applied in the order of their tokens. One register only.`}
	owner := Claim{Name: "txn-owner", Property: checker.Resource, Menu: everySession(), Why: `
		Reads and writes are transactions that compare the revision of the lock's key, in the log that also ends leases: no
		access is accepted once the next holder's turn has come.`}
	owner.Menu.Guarded, owner.Menu.Storage, owner.Menu.Fencing = true, nil, nil
	all := []string{"etcd", "consul", "chubby"}
	return slices.Concat(service.of(all...), service.of("etcd-no-recheck"), tokens.of(all...), release.of(all...),
		release.of("etcd-no-recheck"), rw.of(all...), owner.of("etcd"), exclusionInLeaseOfSession(),
		progressOfServices())
}

// exclusionInLeaseOfSession is of holders that hear of the end of their session in time.
func exclusionInLeaseOfSession() []Claim {
	within := Claim{Name: "within-session", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerAhead,
			search.ServerBack, search.Drift, search.Stall, search.Delay, search.Failover,
		},
		Within: 25, Renewed: true, Drift: 5_000, Storage: waiting, TTLs: []time.Duration{12 * time.Second},
	}, Why: `
		Sessions are renewed when a third or a half of their time is over, and all faults together take less than a fourth of it:
		none ends while its client holds.`}
	jeopardy := Claim{Name: "jeopardy", Property: checker.MutualExclusion, Menu: everySession(), Why: `
		The client counts its lease from when it sent the KeepAlive, so it is in jeopardy before the cell ends the session, and
		it stops: no process stands still, and none waits for storage, which is at hand. Else a holder who is in the middle of an
		access hears of it after the access only, when the lock may be another's. Clocks run at one rate, and nobody ends a
		session that lives.`}
	jeopardy.Menu.Faults = search.Kinds(search.ClientPause, search.EndSession, search.Drift)
	jeopardy.Menu.Styles, jeopardy.Menu.Fencing, jeopardy.Menu.Storage = []history.Style{history.Attentive}, nil, nil
	jeopardy.Menu.AtHand = true
	delay := Claim{Name: "lock-delay", Property: checker.MutualExclusion, Menu: search.Menu{
		Faults: []search.Kind{search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause,
			search.ServerBack, search.Stall, search.Delay, search.SessionCut, search.EndSession},
		Storage: waiting, Within: 80,
	}, Why: `
		Whenever a session ends, its lock is kept from others for 15 s, by when the section is over: it takes less than 8 s,
		with all that holds it up. The leader stays, so that nobody forgets the delay.`}
	return slices.Concat(within.of("etcd", "consul", "chubby"), jeopardy.of("chubby"), delay.of("consul"))
}

// progressOfServices is of locks that go with their holders' sessions.
func progressOfServices() []Claim {
	return Claim{Name: "progress", Property: checker.Progress, Menu: search.Menu{
		Faults: []search.Kind{
			search.ClientCrash, search.ClientPause, search.ClientClock, search.ServerPause, search.ServerCrash,
			search.Stall, search.Delay, search.Break, search.Failover,
		},
		Progress: 20,
	}, Why: `
		The session of a dead client ends within twice its time, a lock-delay passes after it, and each fault ends.`}.
		of("etcd", "consul", "chubby")
}
