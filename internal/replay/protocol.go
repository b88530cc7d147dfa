package replay

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
)

// The protocol between the stage and a client process: lines of JSON on the process's standard input and output. A
// client reports every step and waits until it may continue, so that a fault that the step triggers acts exactly there.

// part is what a client process is to play; it is the first line that it reads.
type part struct {
	Name      string
	Algorithm string
	Command   []string // the program that has the lock; nil: the algorithm is of the catalogue
	Options   locks.Options
	Work      workload.Plan
	Random    string // the seed of its random values; "" if it draws them itself
	Redis     []string
	Master    string
	Routes    map[string]string // reachable addresses for those that Sentinels return
	ZooKeeper []string
	InOrder   bool // it connects to them in this order
	Etcd      string
	Clock     live.Clock
	Patience  time.Duration // it reports a sleep that takes longer by more than this
}

// kind says what a report is about.
type kind string

const (
	ready    kind = "ready" // it will begin when it is told to
	start    kind = "start"
	acquired kind = "acquired"
	refused  kind = "refused"
	check    kind = "check"   // it is about to look
	checked  kind = "checked" // it has looked
	access   kind = "access"
	guarded  kind = "guarded" // an access that the lock is about to carry out
	settled  kind = "settled" // what came of that
	lost     kind = "lost"
	release  kind = "release"
	released kind = "released"
	late     kind = "late" // it slept longer than it should have
	done     kind = "done"
	exited   kind = "exited" // its program has ended; it does nothing more
)

// report is what a client says. Each is answered by an order of the same number.
type report struct {
	Number int
	Kind   kind
	Task   int
	ID     history.ID

	Value    string        // acquired: of the lease; access: of the holder
	Token    uint64        // likewise
	On       int           // acquired: the clock of the deadline
	Left     time.Duration // acquired: time until the deadline, in true time, from At on
	CanLearn bool          // acquired
	Told     bool          // release: a notice of loss has arrived

	Outcome history.Outcome // refused, released
	Why     string          // refused; done: an error of the lock; exited: the signal
	Code    uint32          // exited
	Others  bool            // refused: another client holds the lock
	Final   bool            // refused

	Op       history.Op // access, guarded
	Register int        // likewise
	Based    uint64     // likewise: the version that was read
	Access   int        // settled: the number that the order gave
	Accepted bool       // settled
	Unknown  bool       // settled: the outcome is unknown
	Version  uint64     // settled

	From, At time.Duration // when it was due to wake, and when it reported, on the clock that all processes share
}

// order is what the stage says to a client.
type order struct {
	Number   int // of the report that it answers; 0 if none
	ID       history.ID
	Access   int
	Version  uint64
	Accepted bool
	Failed   history.Outcome // of an access: why there is no answer

	Redirect string        // the address of the server to use from now on
	Step     time.Duration // by which its wall clock jumps
}

// line is one direction of a conversation.
type line struct {
	mu sync.Mutex
	to *json.Encoder
}

func newLine(w io.Writer) *line { return &line{to: json.NewEncoder(w)} }

func (l *line) say(x any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Encode(x)
}

// hear reads what the other end says, until it says nothing more.
func hear[T any](r io.Reader, each func(T)) error {
	from := json.NewDecoder(bufio.NewReader(r))
	for {
		var x T
		if err := from.Decode(&x); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		each(x)
	}
}
