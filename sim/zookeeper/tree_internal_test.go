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
		tree.apply(&c, Zxid(i+1))
	}
	_, code := tree.Stat("/lost")
	require.Equal(t, NoNode, code)
	data, _ := tree.Data("/kept")
	require.Equal(t, "first", data)
	root, _ := tree.Stat("/")
	require.EqualValues(t, 1, root.NumChildren)
}
