package history_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
)

const twoLocks = `history registers=2 authority end=30s
acquisition id=1 client=a lock=x returned=1s outcome=ok
acquisition id=2 client=b lock=y returned=1s outcome=ok
acquisition id=3 client=a lock=y invoked=2s
acquisition id=4 client=b lock=x invoked=3s returned=8s outcome=failed
grant acquisition=1 client=a to=10s ended=deadline
grant acquisition=2 client=b to=10s ended=deadline
copy node=r acquisition=2 client=b to=10s gone=expired
ask acquisition=3 client=a node=r at=2s
ask client=c node=r at=3s
removal by=4 client=b node=r at=9s stale
access acquisition=2 client=b op=write register=1 invoked=2s applied=2s returned=2s accepted version=1
wait client=a to=5s ended=died
wait client=b
`

// TestOfOneLock takes the part of a history that is about one of two locks.
func TestOfOneLock(t *testing.T) {
	h, err := history.Parse(twoLocks)
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, h.Locks())
	y, ids := h.Of("y")
	require.Equal(t, []history.ID{2, 3}, ids)
	require.NoError(t, y.Valid())
	require.Equal(t, `history registers=2 authority end=30s
acquisition id=1 client=b lock=y returned=1s outcome=ok
acquisition id=2 client=a lock=y invoked=2s
grant acquisition=1 client=b to=10s ended=deadline
copy node=r acquisition=1 client=b to=10s gone=expired
ask acquisition=2 client=a node=r at=2s
ask client=c node=r at=3s
access acquisition=1 client=b op=write register=1 invoked=2s applied=2s returned=2s accepted version=1
wait client=b to=1s ended=got-it
wait client=a from=2s to=5s ended=died
`, y.String(), "the ask of an unknown acquisition may be for either lock, and the process of a is dead from 5s on")
	x, ids := h.Of("x")
	require.Equal(t, []history.ID{1, 4}, ids)
	require.Len(t, x.Removals, 1)
	require.EqualValues(t, 2, x.Removals[0].By)
	require.Equal(t, history.GaveUp, x.Waits[1].Ended)
	require.Equal(t, twoLocks, h.String(), "the whole history is as before")
}

// TestOneLockWithoutAName reads histories that were written before locks had names.
func TestOneLockWithoutAName(t *testing.T) {
	h, err := history.Parse("history end=1s\nacquisition id=1 client=a\nacquisition id=2 client=b\n")
	require.NoError(t, err)
	require.Equal(t, []string{""}, h.Locks())
	part, ids := h.Of("")
	require.Equal(t, []history.ID{1, 2}, ids)
	require.Equal(t, h.Acquisitions, part.Acquisitions)
}

const sharedResource = `history registers=2 authority end=30s
acquisition id=1 client=a lock=x returned=1s outcome=ok
acquisition id=2 client=a lock=y returned=1s outcome=ok
acquisition id=3 client=b lock=y returned=1s outcome=ok
acquisition id=4 client=c lock=z returned=1s outcome=ok
access acquisition=1 client=a op=write token=33 max=33 with=2:5:6 version=1
access acquisition=3 client=b op=write token=6 max=6 version=2
access acquisition=4 client=c op=write register=1 version=3
`

// TestAccessesOfSharedResources takes apart what is accessed under two locks at once.
func TestAccessesOfSharedResources(t *testing.T) {
	h, err := history.Parse(sharedResource)
	require.NoError(t, err)
	require.Equal(t, sharedResource, h.String())
	require.Equal(t, [][]string{{"x", "y"}}, h.Shared())
	require.True(t, h.Accesses[0].Overtaken())
	require.False(t, h.Accesses[1].Overtaken())
	y, _ := h.Of("y")
	require.Equal(t, `history registers=2 authority end=30s
acquisition id=1 client=a lock=y returned=1s outcome=ok
acquisition id=2 client=b lock=y returned=1s outcome=ok
access acquisition=1 client=a op=write token=5 max=6 version=1
access acquisition=2 client=b op=write token=6 max=6 version=2
wait client=a to=1s ended=got-it
wait client=b to=1s ended=got-it
`, y.String())
	for _, bad := range []string{"with=2:5", "with=2:5:x", "with=a:5:6", "with=9:5:6"} {
		_, err := history.Parse(strings.Replace(sharedResource, "with=2:5:6", bad, 1))
		require.Error(t, err, bad)
	}
}
