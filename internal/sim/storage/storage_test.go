package storage_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/sim/storage"
)

// access is a request in the notation of the literature: "R33" reads with token 33, "W33" writes, "C33" checks.
// What it writes is version 33, based on the version that it read last, if it read.
func access(op history.Op, token uint64, based uint64) *storage.Request {
	return &storage.Request{Op: op, Token: token, Holder: holderOf(token), Based: based, Version: token}
}

func holderOf(token uint64) string { return string(rune('a' + token%26)) }

const (
	read  = history.Read
	write = history.Write
	check = history.Check
)

// attempt is one access of a schedule and whether it is to be accepted.
type attempt struct {
	op       history.Op
	token    uint64
	accepted bool
}

// play runs a schedule. Each holder writes on the ground of what it read last, refused or not.
func play(t *testing.T, mode history.Fencing, schedule []attempt) {
	t.Helper()
	s := storage.New(mode, 1, nil)
	based := make(map[uint64]uint64)
	for i, a := range schedule {
		answer := s.Execute(nil, access(a.op, a.token, based[a.token])).(*storage.Answer)
		require.Equal(t, a.accepted, answer.Accepted, "access %d under %v", i, mode)
		if a.op == read {
			based[a.token] = answer.Version
		}
	}
}

func TestModesAcceptWhatTheirDefinitionSays(t *testing.T) {
	const yes, no = true, false
	// The stories: 33 is the holder whose lease has ended, 34 the next one.
	overtaken := []attempt{{read, 33, yes}, {read, 34, yes}, {write, 34, yes}, {write, 33, yes}}
	interleaved := []attempt{{read, 33, yes}, {read, 34, yes}, {write, 33, yes}, {write, 34, yes}}
	checked := []attempt{{read, 33, yes}, {check, 33, yes}, {read, 34, yes}, {check, 34, yes}, {write, 34, yes}, {check, 33, yes}, {write, 33, yes}}
	lateRead := []attempt{{write, 34, yes}, {read, 33, yes}, {write, 33, yes}, {write, 34, yes}}
	refuse := func(story []attempt, places ...int) []attempt {
		changed := append([]attempt{}, story...)
		for _, i := range places {
			changed[i].accepted = no
		}
		return changed
	}
	for _, c := range []struct {
		mode                                       history.Fencing
		overtaken, interleaved, checked, lateReads []attempt
	}{
		{history.Unfenced, overtaken, interleaved, checked, lateRead},
		// The check comes too late for 33 only if 34 has written by then; the write is never refused.
		{history.CheckThenWrite, overtaken, interleaved, refuse(checked, 5), lateRead},
		{history.FencedWrite, refuse(overtaken, 3), interleaved, refuse(checked, 5, 6), refuse(lateRead, 2)},
		{history.FencedReadWrite, refuse(overtaken, 3), refuse(interleaved, 2), refuse(checked, 5, 6), refuse(lateRead, 1, 2)},
		// The last client to register wins: in the last case that is 33, and 34 never registered.
		{history.TokenEquality, refuse(overtaken, 3), refuse(interleaved, 2), refuse(checked, 5, 6), refuse(lateRead, 0, 3)},
		// In the last story 34 writes without having read what 33 wrote.
		{history.CompareAndSet, refuse(overtaken, 3), refuse(interleaved, 3), refuse(checked, 5, 6), refuse(lateRead, 3)},
	} {
		t.Run(c.mode.String(), func(t *testing.T) {
			play(t, c.mode, c.overtaken)
			play(t, c.mode, c.interleaved)
			play(t, c.mode, c.checked)
			play(t, c.mode, c.lateReads)
		})
	}
}

func TestHolderAccessesMoreThanOnceWithOneToken(t *testing.T) {
	for _, mode := range []history.Fencing{
		history.Unfenced, history.CheckThenWrite, history.FencedWrite, history.FencedReadWrite, history.TokenEquality,
	} {
		play(t, mode, []attempt{{read, 33, true}, {write, 33, true}, {read, 33, true}, {check, 33, true}, {write, 33, true}})
	}
}

// TestNothingIsComparedOrRememberedOfAnAccessWithoutAToken, but for versions, which need none.
func TestNothingIsComparedOrRememberedOfAnAccessWithoutAToken(t *testing.T) {
	for _, mode := range []history.Fencing{
		history.CheckThenWrite, history.FencedWrite, history.FencedReadWrite, history.TokenEquality, history.CompareAndSet,
	} {
		s, tokens := storage.New(mode, 1, nil), mode != history.CompareAndSet
		bare := func(op history.Op, version uint64) bool {
			return s.Execute(nil, &storage.Request{Op: op, Version: version}).(*storage.Answer).Accepted
		}
		shown := func(op history.Op) bool { return s.Execute(nil, access(op, 34, 0)).(*storage.Answer).Accepted }
		require.True(t, bare(read, 0) && shown(read) && shown(check) && shown(write) && bare(read, 0), mode)
		require.Equal(t, tokens, bare(check, 0), mode)
		require.Equal(t, tokens, bare(write, 99), mode)
		require.Equal(t, tokens, shown(check), mode)
		require.Equal(t, tokens, shown(write), mode)
	}
}

func TestCheckLeavesNoMark(t *testing.T) {
	for _, mode := range []history.Fencing{history.CheckThenWrite, history.FencedWrite, history.FencedReadWrite} {
		play(t, mode, []attempt{{check, 34, true}, {check, 33, true}, {write, 33, true}})
	}
	play(t, history.TokenEquality, []attempt{{read, 33, true}, {check, 34, false}, {write, 33, true}})
}

func TestRegistersHaveTokensOfTheirOwn(t *testing.T) {
	for _, mode := range []history.Fencing{history.FencedWrite, history.FencedReadWrite} {
		s := storage.New(mode, 2, nil)
		newer, older := access(write, 34, 0), access(write, 33, 0)
		older.Register = 1
		require.True(t, s.Execute(nil, newer).(*storage.Answer).Accepted)
		require.Equal(t, &storage.Answer{Op: write, Accepted: true, Version: 33, MaxToken: 33}, s.Execute(nil, older))
		older.Register = 0
		require.Equal(t, &storage.Answer{Op: write, Accepted: false, Version: 34, MaxToken: 34}, s.Execute(nil, older))
	}
}

func TestRegistersHaveHoldersAndVersionsOfTheirOwn(t *testing.T) {
	s := storage.New(history.TokenEquality, 2, nil)
	first, second := access(read, 1, 0), access(read, 2, 0)
	second.Register = 1
	s.Execute(nil, first)
	s.Execute(nil, second)
	require.True(t, s.Execute(nil, access(write, 1, 0)).(*storage.Answer).Accepted)

	s = storage.New(history.CompareAndSet, 2, nil)
	s.Execute(nil, access(write, 7, 0))
	require.Equal(t, uint64(7), s.Execute(nil, access(read, 7, 0)).(*storage.Answer).Version)
	second = access(write, 8, 0)
	second.Register = 1
	require.True(t, s.Execute(nil, second).(*storage.Answer).Accepted, "the other register is still at version 0")
}

func TestRefusedWriteChangesNothing(t *testing.T) {
	for _, c := range []struct {
		mode  history.Fencing
		first []*storage.Request
		stale *storage.Request
	}{
		{history.FencedWrite, []*storage.Request{access(write, 34, 0)}, access(write, 33, 0)},
		{history.FencedReadWrite, []*storage.Request{access(write, 34, 0)}, access(write, 33, 0)},
		{history.TokenEquality, []*storage.Request{access(read, 34, 0), access(write, 34, 0)}, access(write, 33, 0)},
		{history.CompareAndSet, []*storage.Request{access(write, 34, 0)}, access(write, 33, 0)},
	} {
		s := storage.New(c.mode, 1, nil)
		for _, r := range c.first {
			require.True(t, s.Execute(nil, r).(*storage.Answer).Accepted)
		}
		require.False(t, s.Execute(nil, c.stale).(*storage.Answer).Accepted, c.mode)
		require.Equal(t, uint64(34), s.Execute(nil, access(read, 35, 0)).(*storage.Answer).Version, c.mode)
	}
}

func TestObserverSeesEveryDecision(t *testing.T) {
	var seen []string
	s := storage.New(history.FencedWrite, 1, func(r *storage.Request, a *storage.Answer) {
		seen = append(seen, r.String()+" -> "+a.String())
	})
	s.Execute(nil, access(read, 34, 0))
	s.Execute(nil, access(write, 34, 0))
	s.Execute(nil, access(write, 33, 0))
	require.Equal(t, []string{
		"read register 0, token 34 -> accepted, version 0",
		"write register 0: version 34, based on 0, token 34 -> accepted, version 34",
		"write register 0: version 33, based on 0, token 33 -> refused, version 34",
	}, seen)
}

func TestStorageKeepsWhatItAcceptedOverACrash(t *testing.T) {
	s := storage.New(history.FencedWrite, 1, nil)
	s.Execute(nil, access(write, 34, 0))
	s.Crash(true, "nothing")
	s.Restart()
	require.False(t, s.Execute(nil, access(write, 33, 0)).(*storage.Answer).Accepted)
	require.Equal(t, uint64(34), s.Execute(nil, access(read, 33, 0)).(*storage.Answer).Version)
}

func TestDigestsTellAccessesApart(t *testing.T) {
	base := storage.Request{Op: write, Register: 1, Token: 2, Holder: "h", Based: 3, Version: 4}
	sums := map[uint64]bool{base.Sum(): true}
	for _, change := range []func(r *storage.Request){
		func(r *storage.Request) { r.Op = read },
		func(r *storage.Request) { r.Register++ },
		func(r *storage.Request) { r.Token++ },
		func(r *storage.Request) { r.Holder += "h" },
		func(r *storage.Request) { r.Based++ },
		func(r *storage.Request) { r.Version++ },
	} {
		r := base
		change(&r)
		sums[r.Sum()] = true
	}
	require.Len(t, sums, 7)
	accepted, refused := storage.Answer{Version: 1, Accepted: true}, storage.Answer{Version: 1}
	require.NotEqual(t, accepted.Sum(), refused.Sum())
}

// TestTokensOfSeveralLocksAreComparedLockByLock has two locks whose tokens say nothing of each other, unless all are taken for one lock's.
func TestTokensOfSeveralLocksAreComparedLockByLock(t *testing.T) {
	of := func(lock int, token uint64, with ...storage.Shown) *storage.Request {
		return &storage.Request{Op: write, Lock: lock, Token: token, With: with, Version: token}
	}
	s := storage.New(history.FencedWrite, 1, nil)
	accepted := func(q *storage.Request) bool { return s.Execute(nil, q).(*storage.Answer).Accepted }
	require.True(t, accepted(of(1, 33)))
	require.True(t, accepted(of(2, 5)), "a smaller token of another lock")
	require.False(t, accepted(of(1, 32)))
	require.False(t, accepted(of(1, 40, storage.Shown{Lock: 2, Token: 4})), "one of its tokens is old")
	require.True(t, accepted(of(1, 34, storage.Shown{Lock: 2, Token: 5})), "the refused access left no mark")
	require.Equal(t, &storage.Answer{Op: write, Accepted: true, Version: 35, MaxToken: 35, With: []uint64{6}},
		s.Execute(nil, of(1, 35, storage.Shown{Lock: 2, Token: 6})))
	require.False(t, accepted(of(2, 5)))

	s = storage.New(history.FencedWrite, 1, nil)
	require.True(t, accepted(of(0, 33)))
	require.False(t, accepted(of(0, 5)), "a smaller token, whatever its lock")
}
