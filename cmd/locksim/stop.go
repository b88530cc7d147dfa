package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stopFile is the name of a file that ends all shards whose ledgers are in its folder. It says up to which run, by number, they go on; if
// it is empty, they go on with none.
const stopFile = "locksim.stop"

// errStopped ends a shard that a stop file ends.
var errStopped = errors.New("stopped")

// stopSign looks at a stop file. A nil one never says anything.
type stopSign struct {
	name   string
	looked time.Time
	last   uint64 // the run up to which there is something to play
}

// stopSign returns the one of a ledger's folder.
func (r *recording) stopSign() *stopSign {
	if r.ledger == "" || r.ledger == toStdout || !r.ledgerOnly() && r.shard.value.Of <= 1 {
		return nil
	}
	return &stopSign{name: filepath.Join(filepath.Dir(r.ledger), stopFile), last: math.MaxUint64}
}

// rereads is how long what a stop file says is believed.
const rereads = time.Second

// heed returns an error if nothing is to be played from a run on.
func (s *stopSign) heed(next uint64) error {
	if s == nil {
		return nil
	}
	if now := time.Now(); now.Sub(s.looked) >= rereads {
		s.looked = now
		s.last = stopAfter(s.name)
	}
	if next <= s.last {
		return nil
	}
	return fmt.Errorf("%s: %w", s.name, errStopped)
}

// stopAfter is the run that a stop file names; the largest number if there is no such file, or one that is just being written.
func stopAfter(name string) uint64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return math.MaxUint64
	}
	last, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return last
}
