//go:build !js

package harness_test

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// zooKeeperPlays are of ZooKeeper's port. Each has a node of its own, since they share a server.
var zooKeeperPlays = []play{{
	servers: "zookeeper", name: "answers of every kind",
	run: func(p locks.Process, _ stage, tell func(string, ...any)) {
		h := p.ZooKeeper().Open("go-zookeeper", time.Second)
		create := func(path string, kind locks.ZKKind) {
			node, err := h.Create(path, "data", kind)
			own := node.Owner == h.Session().ID
			tell("create %s: %s %s, mine %v", path, outcomeOf(err), node.Path, own && err == nil)
		}
		create("/answers/x", locks.ZKPersistent)
		create("/answers", locks.ZKPersistent)
		create("/answers", locks.ZKPersistent)
		create("/answers/c", locks.ZKContainer)
		create("/answers/c", locks.ZKContainer)
		create("/answers/e", locks.ZKEphemeral)
		create("/answers/e", locks.ZKEphemeral)
		create("/answers/e/x", locks.ZKEphemeral)
		create("/answers/n-", locks.ZKEphemeralSequential)
		create("/answers/n-", locks.ZKEphemeralSequential)
		names, err := h.Children("/answers")
		names = slices.Sorted(slices.Values(names))
		tell("children: %s %s", outcomeOf(err), strings.Join(names, " "))
		_, err = h.Children("/answers/none")
		tell("children of none: %s", outcomeOf(err))
		node, err := h.Get("/answers/e")
		tell("get: %s %q, mine %v", outcomeOf(err), node.Data, node.Owner == h.Session().ID)
		later, err := h.Get("/answers/" + names[3])
		tell("get later: %s, later %v", outcomeOf(err), later.Czxid > node.Czxid)
		_, err = h.Get("/answers/none")
		tell("get none: %s", outcomeOf(err))
		tell("delete: %s", outcomeOf(h.Delete("/answers/e")))
		tell("delete again: %s", outcomeOf(h.Delete("/answers/e")))
		tell("sync: %s", outcomeOf(h.Sync("/answers")))
		for _, ops := range [][]locks.ZKOp{
			{{Kind: locks.ZKCheck, Path: "/answers"}, {Kind: locks.ZKCreate, Path: "/answers/d"}, {Kind: locks.ZKSet, Path: "/answers/d", Data: "1"}},
			{{Kind: locks.ZKSet, Path: "/answers/d", Data: "2"}, {Kind: locks.ZKCheck, Path: "/answers/none"}},
			{{Kind: locks.ZKCreate, Path: "/answers/d"}, {Kind: locks.ZKSet, Path: "/answers/d", Data: "3"}},
		} {
			failed, err := h.Multi(ops...)
			node, _ := h.Get("/answers/d")
			tell("multi: %d, %s, %q", failed, outcomeOf(err), node.Data)
		}
	},
}, {
	servers: "zookeeper", name: "watches",
	run: func(p locks.Process, _ stage, tell func(string, ...any)) {
		h := p.ZooKeeper().Open("go-zookeeper", time.Second)
		_, _, err := h.Watch("/watches")
		tell("none: %s", outcomeOf(err))
		_, _ = h.Create("/watches", "1", locks.ZKPersistent)
		for _, change := range []func() error{
			func() error {
				_, err := h.Multi(locks.ZKOp{Kind: locks.ZKSet, Path: "/watches", Data: "2"})
				return err
			},
			func() error { return h.Delete("/watches") },
		} {
			node, one, err := h.Watch("/watches")
			tell("watch: %s %q", outcomeOf(err), node.Data)
			_, two, _ := h.Watch("/watches")
			tell("fired: %v, %v", one.Fired(), two.Fired())
			tell("change: %s", outcomeOf(change()))
			tell("one %s, two %s", came(p, one), came(p, two))
		}
	},
}, {
	servers: "zookeeper", name: "a connection that breaks",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		h := p.ZooKeeper().Open("go-zookeeper", 2*time.Second)
		_, err := h.Create("/breaks", "", locks.ZKEphemeral)
		tell("create: %s", outcomeOf(err))
		before := h.Session()
		s.reset()
		tell("suspension %s", came(p, before.Suspended))
		node, err := h.Get("/breaks")
		for errors.Is(err, locks.ErrUnknown) {
			node, err = h.Get("/breaks")
		}
		after := h.Session()
		tell("get: %s, mine %v", outcomeOf(err), node.Owner == before.ID)
		tell("the same session %v, suspended %v, lost %v", after.ID == before.ID, after.Suspended.Fired(), before.Lost.Fired())
		tell("delete: %s", outcomeOf(h.Delete("/breaks")))
	},
}, {
	servers: "zookeeper", name: "a session that expires",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		expire(p, s, tell, "go-zookeeper")
	},
}, {
	servers: "zookeeper", name: "a session that expires with its handle",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		expire(p, s, tell, "java")
	},
}}

// expire holds up what a session's client sends until the session is over.
func expire(p locks.Process, s stage, tell func(string, ...any), library string) {
	h := p.ZooKeeper().Open(library, time.Second)
	path := "/expires-" + library
	_, err := h.Create(path, "", locks.ZKEphemeral)
	tell("create: %s", outcomeOf(err))
	_, watched, err := h.Watch(path)
	tell("watch: %s", outcomeOf(err))
	before := h.Session()
	s.hold(2500 * time.Millisecond)
	tell("loss %s, suspended %v, the watch %s", came(p, before.Lost), before.Suspended.Fired(), came(p, watched))
	if library == "java" {
		tell("delete: %s", outcomeOf(h.Delete(path)))
		h = p.ZooKeeper().Open(library, time.Second)
	}
	tell("delete: %s", outcomeOf(h.Delete(path)))
	after := h.Session()
	tell("another session %v, lost %v", after.ID != before.ID && after.ID != 0, after.Lost.Fired())
}
