package zookeeper

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChangesThatDoNotFitAreLeftOut(t *testing.T) {
	tree := NewTree()
	for i, c := range []Change{
		{Kind: NodeDeleted, Path: "/lost"},
		{Kind: DataChanged, Path: "/lost", Data: "x"},
		{Kind: NodeCreated, Path: "/lost/child"},
		{Kind: NodeCreated, Path: "/kept", Data: "first"},
		{Kind: NodeCreated, Path: "/kept", Data: "second"},
	} {
		tree.apply(&c, &Txn{Zxid: Zxid(i + 1)})
	}
	_, code := tree.Stat("/lost")
	require.Equal(t, NoNode, code)
	data, _ := tree.Data("/kept")
	require.Equal(t, "first", data)
	root, _ := tree.Stat("/")
	require.EqualValues(t, 1, root.NumChildren)
}

func TestANodeMayOutliveItsSession(t *testing.T) {
	tree := NewTree()
	for i, c := range []Change{
		{Kind: SessionOpened, Session: 1, Timeout: 1},
		{Kind: NodeCreated, Path: "/a", Session: 1},
		{Kind: SessionClosed, Session: 1}, // decided by a leader that did not know of the node
		{Kind: NodeDeleted, Path: "/a", Session: 1},
		{Kind: NodeCreated, Path: "/a", Session: 2},
	} {
		tree.apply(&c, &Txn{Zxid: Zxid(i + 1)})
	}
	stat, code := tree.Stat("/a")
	require.Equal(t, OK, code)
	require.Equal(t, SessionID(2), stat.EphemeralOwner)
}
