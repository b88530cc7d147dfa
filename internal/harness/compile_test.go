package harness_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/scenarios"
)

func compileText(t *testing.T, text string, known ...locks.Algorithm) error {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte("name: x\ntitle: x\nstory: x\nclients: {a: {work: 1s}, b: {work: 1s}}\n"+text))
	require.NoError(t, err)
	_, err = harness.Compile(s.Cases()[0], harness.Options{Locks: locks.Catalogue().With(known...)})
	return err
}

func TestLockThatDoesNotExistIsRefusedWithTheNearestName(t *testing.T) {
	err := compileText(t, "lock: {algorithm: set-nx-lau}\nexpect: {mutual-exclusion: held}\n")
	require.EqualError(t, err, `x.yaml:5:19: lock.algorithm: there is no lock named "set-nx-lau"; did you mean "set-nx-lua"?`)
}

func TestExpectationOfATokenThatTheLockHasNotIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"expect: {fencing-order: held}\n": "x.yaml:6:25: expect.fencing-order: the lock redlock hands out no fencing token",
		"resource: {fencing: fenced-write}\nexpect: {resource: {fenced-write: held}}\n": "x.yaml:7:35: expect.resource.fenced-write: " +
			"the lock redlock hands out no fencing token to compare; want not-judged, or a mode that needs none",
		"resource: {fencing: fenced-write}\nexpect: {resource: {fenced-write: not-judged}}\n": "",
	} {
		err := compileText(t, "lock: {algorithm: redlock}\n"+text)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

func TestLockWithoutABuilderIsRefused(t *testing.T) {
	err := compileText(t, "lock: {algorithm: own}\nexpect: {mutual-exclusion: held}\n", locks.Algorithm{Name: "own"})
	require.ErrorContains(t, err, `the lock "own" has no builder`)
}

func TestTTLThatTheServersRefuseIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"lock: {algorithm: consul, ttl: 4s}\nservers: {kind: consul}\n": "x.yaml:5:32: lock.ttl: Consul refuses sessions with a " +
			"TTL of 4s: want 10s to 24h0m0s",
		"lock: {algorithm: consul, ttl: 25h}\nservers: {kind: consul}\n": "x.yaml:5:32: lock.ttl: Consul refuses sessions with a " +
			"TTL of 25h0m0s: want 10s to 24h0m0s",
		"lock: {algorithm: consul, ttl: 10s}\nservers: {kind: consul}\n":          "",
		"lock: {algorithm: etcd, ttl: 1ms}\nservers: {kind: etcd}\n":              "",
		"lock: {algorithm: chubby, ttl: 2m}\nservers: {kind: chubby}\n":           "",
		"lock: {algorithm: zk-sequential, ttl: 1s}\nservers: {kind: zookeeper}\n": "",
	} {
		err := compileText(t, text+"expect: {mutual-exclusion: held}\n")
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

func TestLocksOfClientsThatCannotBePlayedBesideTheScenariosAreRefused(t *testing.T) {
	for own, want := range map[string]string{
		"algorithm: set-nx-lau":        `lock.algorithm: there is no lock named "set-nx-lau"; did you mean "set-nx-lua"?`,
		"algorithm: etcd":              "lock.algorithm: the lock etcd lives on servers of the kind etcd, not redis: want servers: {kind: etcd}",
		"algorithm: redlock":           "lock.algorithm: set-nx-lua-fenced and redlock do not exclude each other: the one holds by ",
		"algorithm: set-nx-lua":        "expect.fencing-order: the lock set-nx-lua hands out no fencing token",
		"ttl: 5s, timeout: 3s":         "",
		"algorithm: set-nx-lua-fenced": "",
	} {
		s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: set-nx-lua-fenced}\n"+
			"clients: {a: {work: 1s}, b: {work: 1s, lock: {"+own+"}}}\nexpect: {fencing-order: held}\n"))
		require.NoError(t, err)
		_, err = harness.Compile(s.Cases()[0], harness.Options{})
		if want == "" {
			require.NoError(t, err, own)
		} else {
			require.ErrorContains(t, err, want, own)
		}
	}
}

func TestClientProgramsTakeOneLock(t *testing.T) {
	library := *guestLock(t)
	all := harness.Options{Locks: locks.Catalogue().With(library)}
	for _, c := range []struct{ fields, want string }{
		{"lock: {algorithm: guest}\nlocks: {x: {}, y: {}}\nclients: {a: {}, b: {}}\n", "x.yaml:3:8: locks: the lock guest is a client program, "},
		{"lock: {algorithm: set-nx-lua}\nlocks: {x: {}, y: {}}\nclients: {a: {}, b: {lock: {algorithm: guest}}}\n",
			"x.yaml:4:40: clients.b.lock.algorithm: the lock guest is a client program, "},
		{"lock: {algorithm: set-nx-lua}\nclients: {a: {}, b: {lock: {algorithm: guest}}}\n", ""},
		{"lock: {algorithm: set-nx-lua}\nlocks: {x: {}, y: {}}\nclients: {a: {}, b: {lock: {algorithm: set-nx-ex-del}}}\n", ""},
	} {
		s, err := scenarios.Parse("x.yaml", []byte("name: x\n"+c.fields+"expect: {mutual-exclusion: held}\n"))
		require.NoError(t, err)
		if _, err = harness.Compile(s.Cases()[0], all); c.want == "" {
			require.NoError(t, err, c.fields)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
}

// TestALibraryAsksOneOfServersThatReplicate if it has a client for them; else it is told which has.
func TestALibraryAsksOneOfServersThatReplicate(t *testing.T) {
	catalogued := *guestLock(t)
	for _, c := range []struct {
		name            string
		sentinel, apart bool
		servers         string
		want            locks.Authority
	}{
		{"both", true, false, "{replicas: 1, sentinels: 3}", locks.OneNode},
		{"both", true, false, "{masters: 3, replicas: 1, cluster: true}", locks.OneNode},
		{"both", true, false, "{replicas: 1}", locks.OneNode},
		{"both", true, false, "{masters: 3}", locks.Majority},
		{"neither", false, true, "{replicas: 1, sentinels: 3}", locks.Majority},
		{"neither", false, true, "{masters: 3, replicas: 1, cluster: true}", locks.Majority},
	} {
		lock := catalogued
		lock.Name, lock.Authority, lock.Sentinel, lock.Cluster = c.name, locks.Majority, c.sentinel, c.sentinel
		s, err := scenarios.Parse("x.yaml", []byte("name: x\nlock: {algorithm: "+c.name+"}\nservers: "+c.servers+
			"\nclients: {a: {work: 1s}}\nexpect: {mutual-exclusion: held}\n"))
		require.NoError(t, err)
		o := harness.Options{Locks: locks.Catalogue().With(lock)}
		plan, err := harness.Compile(s.Cases()[0], o)
		played, _ := o.Lock(s)
		require.Equal(t, c.want, played.Authority, c.servers)
		if c.apart {
			require.ErrorContains(t, err, "want masters alone, or a lock that has one client for all of them, such as set-nx-lua or the library redsync")
			continue
		}
		require.NoError(t, err, c.servers)
		require.Equal(t, c.want, plan.Algorithm.Authority, c.servers)
	}
}

func TestDeploymentsThatTheLockCannotUseAreRefused(t *testing.T) {
	const knowNothing = "the lock redlock asks servers that know nothing of each other, of which "
	for text, want := range map[string]string{
		"lock: {algorithm: set-nx-lua-wait}\nservers: {replicas: 0}\n": "servers.replicas: " +
			"the lock set-nx-lua-wait waits for replicas, and there are none: want 1 or more",
		"lock: {algorithm: set-nx-lua-wait}\n":                         "servers.replicas: the lock set-nx-lua-wait waits for replicas, ",
		"lock: {algorithm: set-nx-lua-wait}\nservers: {replicas: 1}\n": "",
		"lock: {algorithm: set-nx-lua, acks: 1}\nservers: {replicas: 1}\n": "x.yaml:5:37: lock.acks: " +
			"the lock set-nx-lua asks no replicas; want it left away, or a lock that waits for replicas",
		"lock: {algorithm: redlock}\nservers: {replicas: 2}\n": "x.yaml:6:21: servers.replicas: " + knowNothing +
			"a master with its replicas is one: want masters alone",
		"lock: {algorithm: redlock}\nservers: {masters: 3, replicas: 1, cluster: true}\n": "x.yaml:6:45: servers.cluster: " +
			knowNothing + "a cluster is one: want masters alone",
		"lock: {algorithm: redlock}\nservers: {masters: 3}\n": "",
	} {
		err := compileText(t, text+"expect: {mutual-exclusion: held}\n")
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
}
