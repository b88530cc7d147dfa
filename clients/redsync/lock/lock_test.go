package lock

import (
	"errors"
	"testing"

	"github.com/go-redsync/redsync/v4"

	"github.com/locksim/locksim/guest"
)

func TestALockIsSaidToBeLostOnlyIfAllServersHaveSpoken(t *testing.T) {
	silent := &redsync.RedisError{Node: 1, Err: errors.New("connection reset")}
	for _, c := range []struct {
		err   error
		known bool
	}{
		{redsync.ErrLockAlreadyExpired, true},
		{&redsync.ErrTaken{Nodes: []int{0, 1}}, true},
		{nil, true},
		{silent, false},
		{errors.Join(redsync.ErrLockAlreadyExpired, silent), false},
	} {
		if got := errors.Is(named(c.err, guest.ErrNotHeld), guest.ErrNotHeld); got != c.known {
			t.Errorf("%v: not held: %v, want %v", c.err, got, c.known)
		}
	}
}
