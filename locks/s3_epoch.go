package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// s3Epoch is the leader election that Gunnar Morling published when S3 got conditional writes ("Leader Election With S3
// Conditional Writes", 2024): each leader makes a lock file with the number of its epoch, which S3 allows only if there is none
// of that name. Others list the files, and may make the next one when the last is marked as expired, or has not been written for as
// long as it is valid: they compare the time of its last write, of S3's clock, with their own. The number is a fencing token.
//
// It promises that each epoch has one leader, and numbers that grow, whatever clocks show. It does not promise one leader at a time:
// "leader election will only ever be eventually correct". Clocks that differ make two, and so does a pause.
//
// With Options.Renew a leader touches its file to extend the lease, and gives up when it has not been able to for as long as the file
// is valid. A touch has no condition, and always succeeds: that of a leader which has a successor already tells it nothing, and it
// goes on beside the next leader for good. Without Renew it works until its own clock says that the file is no longer valid.
//
// The file does not say whose it is. If the answer to a PUT is lost and AWS's SDK sends it again, the leader is told 412, and
// waits until its own file is no longer valid.
func s3Epoch() Algorithm {
	return Algorithm{
		Name:       "s3-epoch",
		Title:      "leader election on S3: a numbered file for each epoch, put unless there is one",
		Source:     "G. Morling, Leader Election With S3 Conditional Writes, 2024",
		Servers:    "object",
		New:        newS3Epoch,
		Authority:  OneNode,
		Deadline:   OnWall,
		Token:      true,
		Identity:   "value",
		HeedsRenew: true,
		Lease:      true,
	}
}

// s3EpochPoll is how often others look ("go back to 1. periodically").
const s3EpochPoll = time.Second

type s3EpochLock struct {
	onObjects
	led map[string]*s3Term // by the value of the lease
}

// s3Term is a leader's epoch while it touches its file.
type s3Term struct{ resigns, ended Signal }

// s3LockFile is what a lock file contains.
type s3LockFile struct {
	Validity int64 `json:"validity_ms"`
	Expired  bool  `json:"expired"`
}

func newS3Epoch(o Options) Builder {
	return func(p Process) (Lock, error) {
		return &s3EpochLock{onObjects: newOnObjects(p, o), led: map[string]*s3Term{}}, nil
	}
}

func (l *s3EpochLock) prefix() string { return l.options.Key + "/lock-" }

// Acquire looks again and again, and leads when it could make the file of the next epoch.
func (l *s3EpochLock) Acquire(wait time.Duration) (Lease, error) {
	w := patienceOf(l.p, wait)
	for {
		lease, err := l.try()
		if err == nil {
			return lease, nil
		}
		if w.over() {
			return Lease{}, err
		}
		l.p.Sleep(min(s3EpochPoll, w.left()))
	}
}

// try lists the files, reads the last one, and makes the next if nobody leads.
func (l *s3EpochLock) try() (Lease, error) {
	last, err := l.at(l.p).Last(l.options.Timeout, l.prefix())
	epoch := uint64(0)
	switch {
	case err == nil:
		if epoch, err = l.epoch(last.Name); err != nil {
			return Lease{}, err
		}
		if valid, err := l.valid(last); valid || err != nil {
			return Lease{}, errors.Join(ErrNotAcquired, err)
		}
	case !errors.Is(err, ErrNoObject):
		return Lease{}, err
	}
	began, name := l.p.Wall(), fmt.Sprintf("%s%010d.json", l.prefix(), epoch+1)
	err = l.put(l.p, name, false, ObjectWrite{Purpose: "acquire", IfAbsent: true})
	switch {
	case answered(err):
		return Lease{}, ErrNotAcquired
	case err != nil:
		return Lease{}, err
	}
	lease, until := Lease{Value: name, Token: epoch + 1}, began.Add(l.options.TTL)
	if l.options.Renew == 0 {
		lease.Deadline = WallDeadline(until)
		return lease, nil
	}
	term := &s3Term{resigns: l.p.NewSignal()}
	lease.Lost = l.p.NewSignal()
	l.led[name] = term
	term.ended = l.p.Go(func(p Process) { l.touch(p, lease, term, until) })
	return lease, nil
}

// epoch is the number in the name of a file.
func (l *s3EpochLock) epoch(name string) (uint64, error) {
	return strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(name, l.prefix()), ".json"), 10, 64)
}

// valid reports whether the leader of the last epoch leads, by the own clock.
func (l *s3EpochLock) valid(last Object) (bool, error) {
	found, err := l.at(l.p).Get(l.options.Timeout, last.Name)
	if err != nil {
		return false, err
	}
	var file s3LockFile
	if err := json.Unmarshal([]byte(found.Value), &file); err != nil {
		return false, fmt.Errorf("s3 %s: %w", last.Name, err)
	}
	return !file.Expired && l.p.Wall().Sub(last.Modified) < time.Duration(file.Validity)*time.Millisecond, nil
}

// put writes a lock file.
func (l *s3EpochLock) put(p Process, name string, expired bool, w ObjectWrite) error {
	w.Life = l.options.TTL
	raw, err := json.Marshal(s3LockFile{Validity: l.options.TTL.Milliseconds(), Expired: expired})
	if err != nil {
		return err
	}
	_, err = retriedByAWS(p, func() (Object, error) {
		return l.at(p).Put(l.options.Timeout, Object{Name: name, Value: string(raw)}, w)
	})
	return err
}

// touch writes the leader's file again and again, until it resigns or the file is no longer valid by its own clock.
func (l *s3EpochLock) touch(p Process, lease Lease, term *s3Term, until Wall) {
	for due := p.Monotonic().Add(l.options.Renew); ; due = due.Add(l.options.Renew) {
		if p.Wait(min(max(due.Sub(p.Monotonic()), 0), max(until.Sub(p.Wall()), 0)), term.resigns) == 0 {
			return
		}
		began := p.Wall()
		if began >= until {
			lease.Lost.Fire()
			return
		}
		if l.put(p, lease.Value, false, ObjectWrite{Purpose: "renew"}) == nil {
			until = began.Add(l.options.TTL)
		}
	}
}

// Release stops touching the file, and marks it as expired.
func (l *s3EpochLock) Release(lease Lease) error {
	if term, ok := l.led[lease.Value]; ok {
		delete(l.led, lease.Value)
		term.resigns.Fire()
		l.p.Wait(Forever, term.ended)
	}
	return l.put(l.p, lease.Value, true, ObjectWrite{Purpose: "release"})
}
