package workload

import (
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/locks"
)

// Assignment tells a remote client process which servers to use, which lock, and what to do with it.
type Assignment struct {
	Name    string   // of the process
	Servers []string // addresses of the lock's servers
	// Sentinel is what the Sentinels, which Servers are then, call the master; "" if they are none.
	Sentinel string
	Cluster  bool // Servers are the nodes of a Redis Cluster
	Key      string
	TTL      time.Duration
	Timeout  time.Duration // of one call to a server; 0 is the library's default, as in the fields below
	Renew    time.Duration
	Retry    locks.Retry
	// LockDelay is how long the servers withhold a lock that was lost rather than released; nil: their own default.
	LockDelay *time.Duration
	Plan      Plan
}

// Assign returns the assignment of a process, but for its servers.
func Assign(name string, o *locks.Options, p *Plan) Assignment {
	return Assignment{
		Name: name, Key: o.Key, TTL: o.TTL, Timeout: o.Timeout, Renew: o.Renew, Retry: o.Retry, LockDelay: o.LockDelay, Plan: *p,
	}
}

// version begins an assignment. It is counted up with each change of what the two sides tell each other: a program is built from
// source that may be newer than the locksim that runs it. It is larger than any name is long, with which older ones began.
const version = 1001

// Frame encodes the assignment.
func (a *Assignment) Frame() []byte {
	var f frame
	f.number(version)
	f.text(a.Name)
	f.number(uint64(len(a.Servers)))
	for _, address := range a.Servers {
		f.text(address)
	}
	f.text(a.Sentinel)
	f.flag(a.Cluster)
	f.text(a.Key)
	for _, d := range [...]time.Duration{a.TTL, a.Timeout, a.Renew, a.Retry.Delay, a.Retry.Jitter} {
		f.signed(int64(d))
	}
	f.signed(int64(a.Retry.Tries))
	f.flag(a.LockDelay != nil)
	if a.LockDelay != nil {
		f.signed(int64(*a.LockDelay))
	}
	p := &a.Plan
	for _, n := range [...]int64{
		int64(p.Style), int64(p.Fencing), int64(p.Tasks), int64(p.Sections), int64(p.Enters),
		int64(p.Wait), int64(p.Again), int64(p.Unlock), int64(p.Late), int64(p.Passes), int64(p.Think), int64(p.Read), int64(p.Write), int64(p.Work),
		int64(p.Registers),
		int64(p.Between),
	} {
		f.signed(n)
	}
	f.flag(p.Hangs)
	f.flag(p.Stays)
	f.flag(p.Busy)
	f.flag(p.Guarded)
	f.flag(p.Forgets)
	return f
}

// ParseAssignment is the inverse of Frame. It panics if another version has made the frame.
func ParseAssignment(bytes []byte) Assignment {
	f := frame(bytes)
	if f.takeNumber() != version {
		panic("the program was built from another version of locksim than the one that runs it: build locksim again")
	}
	a := Assignment{Name: f.takeText()}
	for range f.takeNumber() {
		a.Servers = append(a.Servers, f.takeText())
	}
	a.Sentinel, a.Cluster, a.Key = f.takeText(), f.takeFlag(), f.takeText()
	for _, d := range [...]*time.Duration{&a.TTL, &a.Timeout, &a.Renew, &a.Retry.Delay, &a.Retry.Jitter} {
		*d = f.takeDuration()
	}
	a.Retry.Tries = int(f.takeSigned())
	if f.takeFlag() {
		delay := f.takeDuration()
		a.LockDelay = &delay
	}
	a.Plan = Plan{
		Style: history.Style(f.takeSigned()), Fencing: history.Fencing(f.takeSigned()),
		Tasks: int(f.takeSigned()), Sections: int(f.takeSigned()), Enters: int(f.takeSigned()),
		Wait: f.takeDuration(), Again: f.takeDuration(), Unlock: f.takeDuration(), Late: f.takeDuration(), Passes: f.takeDuration(), Think: f.takeDuration(),
		Read: f.takeDuration(), Write: f.takeDuration(), Work: f.takeDuration(), Registers: int(f.takeSigned()),
		Between: f.takeDuration(),
	}
	p := &a.Plan
	for _, flag := range [...]*bool{&p.Hangs, &p.Stays, &p.Busy, &p.Guarded, &p.Forgets} {
		*flag = f.takeFlag()
	}
	return a
}
