package promise

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/locks"
)

// Of declares what there is to know of a lock of the catalogue. Package locktest holds this against what it finds out.
func Of(a locks.Algorithm) *Subject {
	a.Servers = a.Backend()
	s := &Subject{
		Algorithm: a, TTL: 10 * time.Second, Deadline: a.Deadline != locks.NoClock,
		Fresh: slices.Contains([]string{"value", "session", "lease", "own node"}, a.Identity),
	}
	s.Suspends, s.Expires = s.ensemble(), a.Lease && !s.InSession()
	s.Renews = s.Expires && a.Keeps
	s.Lost = s.InSession() || slices.Contains([]string{"connection", "transaction"}, a.Identity)
	s.Notice, s.Allowance = s.Lost, s.TTL
	if s.Deadline {
		s.Allowance = 0
	}
	if s.Expires {
		s.Margin = 100
	}
	s.Deploy()
	s.Reentrant = a.Authority == locks.Queue && s.ensemble() || a.Identity == "connection"
	s.ByName = a.Identity == "connection"
	return s.particular()
}

// particular adds what no field of an Algorithm says.
func (s *Subject) particular() *Subject {
	switch s.Algorithm.Name {
	case "set-nx-lua-reused-value":
		s.Fresh = false
	case "mysql-lease-row": // an owner's name is one acquisition's
		s.Fresh = true
	case "k8s-lease", "k8s-release-on-cancel":
		s.Lost, s.Notice, s.Margin = true, true, 87
	case "dynamodb", "dynamodb-eventual":
		s.Margin = 75
	case "azure-blob-lease":
		s.Lost, s.Notice, s.Fresh, s.Margin = true, true, true, 67
	case "gcs", "gcs-generation":
		s.Wall, s.Lost, s.Notice, s.Margin = true, true, true, 89
	case "s3-epoch", "s3-lease", "objsync", "shedlock", "shedlock-postgres", "mongo-upsert", "mongo-ttl", "mongo-ttl-w1":
		s.Wall = true
	case "watchdog":
		s.Margin = 20
	case "reentrant", "redisson-fenced", "redisson-fenced-get-token", "redisson-fair", "redisson-multi":
		s.Margin, s.Reentrant, s.ByName = 67, true, true
	case "hazelcast-fenced", "hazelcast-unsafe": // its holder is not told that the session is over
		s.Lost, s.Notice, s.Reentrant, s.ByName = false, false, true, true
	case "redisson-multi-lease":
		s.Reentrant, s.ByName = true, true
	case "redlock-extend":
		s.Lost, s.Notice, s.Margin = true, true, 67
	case "redlock", "redlock-parallel", "redlock-parallel-fixed-delay", "redlock-quorum-prose", "redlock-counter-token":
		s.Allowance = s.TTL/100 + 2*time.Millisecond
	}
	return s
}

// narrow puts a lock of the catalogue and its servers in a fault model of campaigns. One server more than a majority of three
// is all of them, so a lock that wants one more than a majority is given five.
func (s *Subject) narrow(m *search.FaultModel) {
	m.Lock = s.Algorithm.Name
	switch {
	case !s.facts().Has(backend.Masters):
		m.Masters, m.Persistence, m.Disk = nil, nil, nil
	case s.Algorithm.Name == "redlock-quorum-prose":
		m.Masters = []int{5}
	case s.Several() && m.Masters == nil:
		m.Masters = s.Masters
	case s.Algorithm.Authority == locks.Replicated && m.Replicas == nil:
		m.Masters, m.Replicas = nil, []int{1, 2}
	}
}

// kept lists of each lock with a mistake, or that is nearly another, what is claimed of it nevertheless. What other locks promise
// follows from what they are.
var kept = map[string]string{
	"get-then-set": "", "set-nx-lua-wait-elsewhere": "", "zk-sequential-unprotected": "", "mysql-get-lock-in-transaction": "",
	"setnx":       "unless-forgotten",
	"redis-delex": "release", "valkey-delifeq": "release", // what set-nx-lua promises; the release is all that differs
	"jedis-sample": "within-lease", "setnx-expire": "within-lease", "memcached-add": "within-lease",
	"set-nx-lua-reused-value":    "within-lease",
	"set-nx-ex-del":              "within-lease progress",
	"set-nx-get-del":             "within-lease progress token-equality",
	"set-without-nx":             "token-equality",
	"redisson-fenced-get-token":  "renewed release",
	"redisson-fair":              "", // those behind a dead one ask without a pause: few of its schedules can be played
	"redisson-multi":             "renewed",
	"redisson-multi-lease":       "",
	"redlock-py":                 "careful token-equality",
	"redlock-no-check":           "within-lease release token-equality",
	"redlock-no-drift":           "within-lease careful-without-drift release token-equality",
	"redlock-counter-token":      "within-lease careful service release token-equality",
	"zk-ephemeral":               "within-session progress tokens fenced-read-write",
	"zk-sequential-no-recheck":   "service release",
	"zk-sequential-no-sync":      "service release",
	"zk-sequential-number-token": "service release",
	"curator-mutex":              "service release",
	"etcd-no-recheck":            "service release",
	"hazelcast-unsafe":           "",
	"etcd-shared-lease":          "",
	"k8s-release-on-cancel":      "within-lease tokens fenced-read-write",
	"s3-lockfile":                "",
	"shedlock":                   "within-lease",
	"shedlock-db-time":           "within-lease",
	"shedlock-postgres":          "within-lease",
	"objsync":                    "",
	"gcs":                        "",
	"mongo-upsert":               "within-lease",
	"dynamodb-eventual":          "within-lease release",
	"mongo-ttl-w1":               "release",
}

// sampled lists of some promises the locks on which campaigns play them. What protects the resource from one lock protects it
// from any.
var sampled = map[string][]string{
	"lock-delay": {"consul"},
	"compare-and-set": {
		"get-then-set", "setnx", "set-without-nx", "set-nx-get-del", "jedis-sample", "set-nx-lua", "set-nx-lua-wait", "reentrant",
		"redlock", "redlock-py", "zk-sequential-no-recheck", "etcd-no-recheck", "memcached-add", "mysql-get-lock",
	},
	"unfenced-within-lease":         {"set-nx-ex-del", "set-nx-get-del", "set-nx-lua", "set-nx-lua-fenced"},
	"release-among-replicas":        {"set-nx-lua", "set-nx-lua-wait", "watchdog"},
	"release-under-sentinel":        {"set-nx-lua"},
	"token-equality-among-replicas": {"set-nx-lua", "set-nx-lua-wait"},
	"leaves-nothing": {
		"set-nx-lua", "set-nx-lua-fenced", "watchdog", "reentrant", "redlock", "redlock-parallel", "zk-sequential", "etcd", "consul",
		"memcached-cas", "mysql-get-lock", "mysql-row", "mysql-lease-row",
	},
	"kept-or-told": {"zk-sequential", "etcd"},
}

// claims reports whether campaigns play a promise of a lock.
func claims(lock, row string) bool {
	if list, ok := sampled[row]; ok {
		return slices.Contains(list, lock)
	}
	list, mistaken := kept[lock]
	return row != "" && (!mistaken || slices.Contains(strings.Fields(list), row))
}

// Claim says of a property of a lock of the catalogue whether it survives everything that is in a fault model.
type Claim struct {
	Name     string // unique; begins with the lock's
	Property checker.Property
	Model    search.FaultModel
	Forgives search.Excuse // as a promise's
	Why      string        // the argument, in a few sentences
}

// OfCatalogue lists what the locks of the catalogue promise, as campaigns play it.
func OfCatalogue() []Claim {
	var list []Claim
	for _, a := range locks.Catalogue().All() {
		for _, p := range For(Of(a)) {
			if claims(a.Name, p.Row) {
				list = append(list, Claim{Name: a.Name + "-" + p.Row, Property: p.Property, Model: p.Narrow, Forgives: p.Forgives, Why: p.Why})
			}
		}
	}
	return list
}
