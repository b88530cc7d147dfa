package zookeeper_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/sim"
)

// alone plays one client on a standalone server.
func alone(t *testing.T, does func(k *keeper)) *world {
	w := newWorld(t, 1, zookeeper.Config{Servers: 1})
	w.client("a", func(k *keeper) {
		k.open(1, 30*s)
		does(k)
	})
	w.play()
	return w
}

func TestErrorsAreThoseOfTheWireProtocol(t *testing.T) {
	alone(t, func(k *keeper) {
		k.must(create("/p"))
		k.must(create("/p/c"))
		k.must(create("/e", "ephemeral"))
		for _, c := range []struct {
			request *zookeeper.Request
			code    zookeeper.Code
		}{
			{create("/p"), -110},
			{create("/x/y"), -101},
			{create("/e/y"), -108},
			{create("p"), -8},
			{create("/p/"), -8},
			{del("/p", -1), -111},
			{del("/x", -1), -101},
			{del("/p/c", 7), -103},
			{set("/x", "", -1), -101},
			{set("/p", "", 1), -103},
			{ask(zookeeper.GetData, "/x"), -101},
			{ask(zookeeper.GetChildren, "/x"), -101},
			{ask(zookeeper.Exists, "/x"), -101},
			{del("/", -1), -8},
		} {
			a := k.call(c.request)
			require.Equal(t, c.code, a.Err, "%v", c.request)
		}
	})
}

func TestSequenceNumbersCountTheParentsCreates(t *testing.T) {
	alone(t, func(k *keeper) {
		k.must(create("/l"))
		require.Equal(t, "/l/n-0000000000", k.must(create("/l/n-", "sequential")).Path)
		k.must(create("/l/plain"))
		require.Equal(t, "/l/n-0000000002", k.must(create("/l/n-", "sequential")).Path)
		k.must(del("/l/n-0000000002", -1))
		require.Equal(t, "/l/0000000003", k.must(create("/l/", "sequential")).Path)
		require.Equal(t, int32(2*4-3), k.must(ask(zookeeper.Exists, "/l")).Stat.Cversion)

		before := k.must(ask(zookeeper.Exists, "/l/plain")).Stat.Czxid
		for _, name := range k.must(ask(zookeeper.GetChildren, "/l")).Children {
			k.must(del("/l/"+name, -1))
		}
		k.must(del("/l", -1))
		k.must(create("/l"))
		a := k.must(create("/l/n-", "sequential"))
		require.Equal(t, "/l/n-0000000000", a.Path, "the counter dies with the parent")
		require.Greater(t, a.Stat.Czxid, before, "czxid does not")
	})
}

func TestStatFollowsTheNode(t *testing.T) {
	alone(t, func(k *keeper) {
		k.must(create("/p"))
		k.must(create("/p/e", "ephemeral"))
		k.must(set("/p", "abc", 0))
		k.must(set("/p", "abcd", 1))
		a := k.must(ask(zookeeper.GetData, "/p"))
		z := a.Stat.Czxid
		require.Equal(t, "abcd", a.Data)
		made, changed := a.Stat.Ctime, a.Stat.Mtime
		require.Greater(t, made, sim.Epoch/int64(time.Millisecond))
		require.Greater(t, changed, made)
		require.Equal(t, zookeeper.Stat{
			Czxid: z, Pzxid: z + 1, Mzxid: z + 3, Ctime: made, Mtime: changed, Version: 2, Cversion: 1, DataLength: 4,
			NumChildren: 1,
		}, a.Stat)
		require.Equal(t, k.session, k.must(ask(zookeeper.Exists, "/p/e")).Stat.EphemeralOwner)
	})
}

func TestMultiHappensAtOneZxidOrNotAtAll(t *testing.T) {
	w := alone(t, func(k *keeper) {
		check := &zookeeper.Request{Op: zookeeper.Check, Path: "/p", Version: 0}
		a := k.must(multi(create("/p"), check, create("/p/c-", "sequential"), set("/p", "x", 0)))
		require.Equal(t, "/p/c-0000000000", a.Results[2].Path)
		require.Equal(t, a.Zxid, k.must(ask(zookeeper.Exists, "/p/c-0000000000")).Stat.Czxid)

		a = k.must(multi(create("/q"), del("/p/c-0000000000", -1), check, create("/r")))
		var codes []zookeeper.Code
		for _, r := range a.Results {
			codes = append(codes, r.Err)
		}
		require.Equal(t, []zookeeper.Code{0, 0, zookeeper.BadVersion, zookeeper.RuntimeInconsistency}, codes)
		require.Equal(t, zookeeper.NoNode, k.call(ask(zookeeper.Exists, "/q")).Err)
		require.Equal(t, "/p/c-0000000001", k.must(create("/p/c-", "sequential")).Path)
	})
	require.Len(t, w.committed, 4)
}

// TestFailedMultiLeavesNoTrace plays random writes with and without failing multis between them: the trees are equal.
func TestFailedMultiLeavesNoTrace(t *testing.T) {
	paths := rapid.SampledFrom([]string{"/a", "/b", "/a/x", "/a/y", "/a/x/z", "/b/x"})
	rapid.Check(t, func(rt *rapid.T) {
		op := rapid.Custom(func(t *rapid.T) *zookeeper.Request {
			path := paths.Draw(t, "path")
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0:
				return del(path, -1)
			case 1:
				return set(path, "d", int32(rapid.IntRange(-1, 1).Draw(t, "version")))
			case 2:
				return create(path, "sequential")
			case 3:
				return create(path, "ephemeral")
			default:
				return create(path)
			}
		})
		single := rapid.SliceOfN(op, 1, 12).Draw(rt, "writes")
		doomed := rapid.SliceOfN(rapid.SliceOfN(op, 0, 4), len(single), len(single)).Draw(rt, "multis")
		plain, disturbed := zookeeper.NewTree(), zookeeper.NewTree()
		for i, r := range single {
			z := zookeeper.Zxid(i + 1)
			bad := multi(append(doomed[i], create("/nowhere/at/all"))...)
			require.NotEqual(rt, zookeeper.OK, disturbed.Prepare(7, bad, z))
			require.Equal(rt, plain.Prepare(7, r, z), disturbed.Prepare(7, r, z))
			require.Equal(rt, plain.Dump(), disturbed.Dump())
		}
		plain.Close(7, 99)
		require.NotContains(rt, fmt.Sprint(plain.Dump()), "owner 0x7")
	})
}

// TestAnswersStayAsTheyWere plays random creates and deletes, and looks at old answers again: they share memory with
// the tree.
func TestAnswersStayAsTheyWere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tree := zookeeper.NewTree()
		var answers, copies [][]string
		var there []string
		for i, n := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(rt, "names") {
			path := fmt.Sprintf("/%d", n)
			if tree.Prepare(1, create(path), zookeeper.Zxid(i)) == zookeeper.OK {
				there = slices.Insert(there, 0, path[1:])
			} else {
				require.Equal(rt, zookeeper.OK, tree.Prepare(1, del(path, -1), zookeeper.Zxid(i)))
				there = slices.DeleteFunc(there, func(name string) bool { return name == path[1:] })
			}
			names, _ := tree.Children("/")
			require.ElementsMatch(rt, there, names)
			require.Equal(rt, strings.Join(there, " "), strings.Join(names, " "), "the newest first")
			answers, copies = append(answers, names), append(copies, slices.Clone(names))
		}
		require.Equal(rt, copies, answers)
	})
}
