package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// A program says and hears one JSON object a line on a connection to the address in LOCKSIM. First it says ready, and hears
// what it is to use; then it is told what to do, one thing at a time, and says how that ended. It may say lost at any time.
//
//	says    ready      it is there; can lists what its lock can do besides: verify
//	hears   ready      client, servers, key, ttl_ms; timeout_ms, renew_ms, retry_ms, tries where the scenario has them; sentinel,
//	                   what the master is called, if the servers are Sentinels; cluster, if they are nodes of one
//	hears   start      it is to acquire the lock: wait_ms is for how long at most, 0 is once without waiting, none is forever
//	says    acquired   value that identifies it, token, and when its lease ends: ttl_ms from now, or until_ms of its wall clock
//	hears   release    it is to release the lock
//	says    released
//	hears   verify     it is to ask the servers whether it still holds the lock
//	says    held
//	says    refused    instead of what it was to do: it surely did not get the lock, or does not hold it; why
//	says    failed     instead of what it was to do: why
//	says    lost       its library has told it that it no longer holds the lock
//	hears   done       there is no more to do
type line struct {
	Word string `json:"word"`

	Can []string `json:"can,omitempty"`

	Client  string   `json:"client,omitempty"`
	Servers []string `json:"servers,omitempty"`

	Sentinel string `json:"sentinel,omitempty"`
	Cluster  bool   `json:"cluster,omitempty"`

	Key     string   `json:"key,omitempty"`
	TTL     *float64 `json:"ttl_ms,omitempty"`
	Timeout float64  `json:"timeout_ms,omitempty"`
	Renew   float64  `json:"renew_ms,omitempty"`
	Retry   float64  `json:"retry_ms,omitempty"`
	Tries   int      `json:"tries,omitempty"`
	Delay   *float64 `json:"lock_delay_ms,omitempty"`

	Wait *float64 `json:"wait_ms,omitempty"`

	Value string   `json:"value,omitempty"`
	Token uint64   `json:"token,omitempty"`
	Until *float64 `json:"until_ms,omitempty"`
	Why   string   `json:"why,omitempty"`
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func some(d time.Duration) *float64 {
	ms := millis(d)
	return &ms
}

// readiness is how long a program may take, in virtual time, until it says that it is ready: time stands still while it starts.
const readiness = 5 * time.Second

// talk is the conversation with a program.
type talk interface {
	// say tells the program something.
	say(l line)
	// hear waits for what the program says next, which is to be what is wanted.
	hear(want string, most time.Duration) (line, error)
	// listens returns what fires when the program says that it has lost the lock which it is about to be told to acquire.
	listens() locks.Signal
	// ahead is by how much the wall clock that the program reads is ahead of its client's.
	ahead() time.Duration
}

// opened tells a program that is ready what it is to use, and returns its lock.
func opened(t talk, ready *line, clock locks.Clock, a *workload.Assignment) locks.Lock {
	var delay *float64
	if a.LockDelay != nil {
		delay = some(*a.LockDelay)
	}
	t.say(line{
		Word: "ready", Client: a.Name, Servers: a.Servers, Sentinel: a.Sentinel, Cluster: a.Cluster, Key: a.Key, TTL: some(a.TTL), Timeout: millis(a.Timeout),
		Renew: millis(a.Renew), Retry: millis(a.Retry.Delay), Tries: a.Retry.Tries, Delay: delay,
	})
	l := &lock{talk: t, clock: clock}
	if slices.Contains(ready.Can, "verify") {
		return &verifier{l}
	}
	return l
}

// open waits until the program is ready, and returns its lock.
func (p *process) open(env *workload.Remote, a *workload.Assignment) (locks.Lock, error) {
	ready, err := p.hear("ready", readiness)
	if err != nil {
		return nil, err
	}
	return opened(p, &ready, env, a), nil
}

// means is what a line says where another may be wanted; known is false if it is no answer to that.
func (l *line) means(want string) (known bool, err error) {
	switch l.Word {
	case "refused":
		return true, fmt.Errorf("%w: %s", locks.ErrNotAcquired, l.Why)
	case "failed":
		return true, fmt.Errorf("%w: %s", locks.ErrUnknown, l.Why)
	}
	return l.Word == want, nil
}

// unexpected says that a program does not keep to the protocol.
func unexpected(l *line, want string) string {
	return fmt.Sprintf("it says %q where %q is expected", l.Word, want)
}

// hear waits for what the program says next, for as long as it may take.
func (p *process) hear(want string, most time.Duration) (line, error) {
	p.hears = most == sim.Forever
	p.requests++
	defer func() { p.hears = false }()
	for wait := most; ; wait = 0 {
		if len(p.said) > 0 {
			next := p.said[0]
			p.said = p.said[1:]
			known, err := next.means(want)
			if known {
				return next, err
			}
			p.quit(unexpected(&next, want))
		}
		if wait == 0 && most < sim.Forever {
			p.quit(fmt.Sprintf("it has not said %s for %s, nor asked for the lock, nor accessed the resource: see docs/languages.md", want, most))
		}
		p.mustLive()
		p.heard = sim.Signal{}
		p.task.Wait(most, &p.heard, &p.gone)
		p.mustLive()
	}
}

// say tells the program something.
func (p *process) say(l line) {
	p.mustLive()
	if p.control != nil {
		p.control.out = append(p.control.out, l.text()...)
	}
	p.wake.Fire()
}

// text is the line as it is sent.
func (l *line) text() []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}

func parseLine(text []byte) (l line, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(&l); err != nil {
		err = fmt.Errorf("it says %.200q, which is no line of the protocol: %w", text, err)
	}
	return l, err
}

func (p *process) listens() locks.Signal {
	p.lost = &sim.Signal{}
	return p.lost
}

// listen takes lines from the program.
func (p *process) listen() {
	for {
		text, rest, whole := bytes.Cut(p.control.in, []byte("\n"))
		if !whole {
			return
		}
		p.control.in = rest
		l, err := parseLine(text)
		if err != nil {
			p.quit(err.Error())
			return
		}
		if l.Word == "lost" {
			p.lost.Fire()
			continue
		}
		p.said = append(p.said, l)
		p.heard.Fire()
	}
}

// lock is a program's lock.
type lock struct {
	talk
	clock locks.Clock
}

// verifier is one that can be asked whether it is still held.
type verifier struct{ *lock }

// Acquire has the program acquire its lock.
func (l *lock) Acquire(wait time.Duration) (locks.Lease, error) {
	start := line{Word: "start"}
	switch wait {
	case locks.Forever:
	case locks.Try:
		start.Wait = some(0)
	default:
		start.Wait = some(wait)
	}
	lost := l.listens()
	l.say(start)
	got, err := l.hear("acquired", locks.Forever)
	if err != nil {
		return locks.Lease{}, err
	}
	return locks.Lease{Value: got.Value, Token: got.Token, Deadline: l.deadline(&got), Lost: lost}, nil
}

func (l *lock) deadline(got *line) locks.Deadline {
	switch {
	case got.TTL != nil:
		return locks.MonotonicDeadline(l.clock.Monotonic().Add(time.Duration(*got.TTL * float64(time.Millisecond))))
	case got.Until != nil:
		return locks.WallDeadline(locks.Wall(*got.Until*float64(time.Millisecond)) - locks.Wall(l.ahead()))
	}
	return locks.Deadline{}
}

// Release has the program release its lock.
func (l *lock) Release(locks.Lease) error { return l.do("release", "released") }

// Verify has the program ask the servers whether it still holds the lock.
func (v *verifier) Verify(locks.Lease) error { return v.do("verify", "held") }

// do tells the program something to do, and waits until it has.
func (l *lock) do(word, done string) error {
	l.say(line{Word: word})
	answer, err := l.hear(done, locks.Forever)
	if answer.Word == "refused" {
		return fmt.Errorf("%w: %s", locks.ErrNotHeld, answer.Why)
	}
	return err
}
