package zookeeper_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
)

// TestAccessControlLists makes and changes nodes as a client that has proved some identities.
func TestAccessControlLists(t *testing.T) {
	user, other := zookeeper.Digest("user:secret"), zookeeper.Digest("user:wrong")
	here := zookeeper.Identity{Scheme: "ip", ID: "10.1.2.3"}
	auth := zookeeper.Identity{Scheme: "auth"}
	anyone := zookeeper.Identity{Scheme: "world", ID: "anyone"}
	address := func(s string) zookeeper.Identity { return zookeeper.Identity{Scheme: "ip", ID: s} }
	may := func(p zookeeper.Permission, id zookeeper.Identity) zookeeper.ACL {
		return zookeeper.ACL{Permission: p, Identity: id}
	}
	for _, c := range []struct {
		name string
		acl  []zookeeper.ACL
		is   []zookeeper.Identity // who makes the node, and who then sets its data
		code zookeeper.Code       // of the making
		set  zookeeper.Code
	}{
		{name: "nothing is said"},
		{name: "an empty list", acl: []zookeeper.ACL{}, code: zookeeper.InvalidACL},
		{name: "the creator", acl: []zookeeper.ACL{may(zookeeper.MayAll, auth)}, is: []zookeeper.Identity{user}},
		{name: "nobody makes it", acl: []zookeeper.ACL{may(zookeeper.MayAll, auth)}, code: zookeeper.InvalidACL},
		{
			name: "an address proves nothing", acl: []zookeeper.ACL{may(zookeeper.MayAll, auth)}, is: []zookeeper.Identity{here},
			code: zookeeper.InvalidACL,
		},
		{
			name: "another's password", acl: []zookeeper.ACL{may(zookeeper.MayAll, user)}, is: []zookeeper.Identity{other},
			set: zookeeper.NoAuth,
		},
		{name: "to read is not to write", acl: []zookeeper.ACL{may(zookeeper.MayRead, anyone)}, set: zookeeper.NoAuth},
		{name: "an address", acl: []zookeeper.ACL{may(zookeeper.MayWrite, address("10.1.2.3"))}, is: []zookeeper.Identity{here}},
		{name: "a network", acl: []zookeeper.ACL{may(zookeeper.MayWrite, address("10.1.0.0/16"))}, is: []zookeeper.Identity{here}},
		{
			name: "another network", acl: []zookeeper.ACL{may(zookeeper.MayWrite, address("10.2.0.0/16"))},
			is: []zookeeper.Identity{here}, set: zookeeper.NoAuth,
		},
		{name: "no network", acl: []zookeeper.ACL{may(zookeeper.MayWrite, address("10.1.2.3/33"))}, code: zookeeper.InvalidACL},
		{name: "no address", acl: []zookeeper.ACL{may(zookeeper.MayWrite, address("here"))}, code: zookeeper.InvalidACL},
		{name: "no scheme", acl: []zookeeper.ACL{may(zookeeper.MayAll, zookeeper.Identity{Scheme: "x"})}, code: zookeeper.InvalidACL},
		{
			name: "no digest", acl: []zookeeper.ACL{may(zookeeper.MayAll, zookeeper.Identity{Scheme: "digest", ID: "user"})},
			code: zookeeper.InvalidACL,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := zookeeper.NewTree()
			code := tree.Prepare(1, &zookeeper.Request{Op: zookeeper.Create, Path: "/n", ACL: c.acl, Auth: c.is}, 1)
			require.Equal(t, c.code, code)
			if code == zookeeper.OK {
				set := &zookeeper.Request{Op: zookeeper.SetData, Path: "/n", Version: zookeeper.AnyVersion, Auth: c.is}
				require.Equal(t, c.set, tree.Prepare(1, set, 2))
			}
		})
	}
}

func TestNamesOfNodes(t *testing.T) {
	for path, code := range map[string]zookeeper.Code{
		"/a": 0, "/a.": 0, "/...": 0, "/ä": 0, "/a b": 0, "/": zookeeper.NodeExists,
		"": zookeeper.BadArguments, "a": zookeeper.BadArguments, "/.": zookeeper.BadArguments, "/..": zookeeper.BadArguments,
		"/\x1f": zookeeper.BadArguments, "/\u0080": zookeeper.BadArguments, "/\ue000": zookeeper.BadArguments,
		"/\ufff0": zookeeper.BadArguments, "/\U0001f512": zookeeper.BadArguments, "/\xff": zookeeper.BadArguments,
		"//a": zookeeper.BadArguments, "/a/b": zookeeper.NoNode, "/a//b": zookeeper.NoNode, "/a\x00": zookeeper.BadArguments,
	} {
		require.Equal(t, code, zookeeper.NewTree().Prepare(1, &zookeeper.Request{Op: zookeeper.Create, Path: path}, 1), "%q", path)
	}
}

func TestWatchesThatStand(t *testing.T) {
	alone(t, func(k *keeper) {
		k.must(create("/a"))
		k.must(&zookeeper.Request{Op: zookeeper.AddWatch, Path: "/", WatchMode: zookeeper.WatchRecursive})
		k.must(&zookeeper.Request{Op: zookeeper.AddWatch, Path: "/a", WatchMode: zookeeper.WatchStanding})
		for range 2 {
			k.must(create("/a/b"))
			k.must(set("/a", "1", zookeeper.AnyVersion))
			k.must(del("/a/b", zookeeper.AnyVersion))
		}
		once := []string{"created /a/b", "childrenChanged /a", "dataChanged /a", "deleted /a/b", "childrenChanged /a"}
		require.Equal(t, append(once, once...), k.events)
		k.events = nil
		remove := &zookeeper.Request{Op: zookeeper.RemoveWatch, Path: "/a", WatchTypes: zookeeper.AnyWatch}
		k.must(remove)
		require.Equal(t, zookeeper.NoWatcher, k.call(remove).Err)
		k.must(create("/a/c"))
		require.Equal(t, []string{"created /a/c"}, k.events)
		k.events = nil
	})
}
