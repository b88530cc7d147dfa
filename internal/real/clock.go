package real

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// faketimeLibraries are where Debian has the library, for each architecture.
const faketimeLibraries = "/usr/lib/*/faketime/libfaketimeMT.so.1"

// ownClock has the process read the wall clock through faketime, when it is started. The C library's malloc must come before
// that of Redis, jemalloc, whose constructor asks for the time before faketime is ready.
func (c *Child) ownClock(dir string) error {
	libraries, err := filepath.Glob(faketimeLibraries)
	if err != nil || len(libraries) == 0 {
		return &Missing{"libfaketime", "libfaketime"}
	}
	malloc := filepath.Join(filepath.Dir(filepath.Dir(libraries[0])), "libc.so.6")
	c.clock = filepath.Join(dir, c.Name+".clock")
	c.env = append(c.env, "LD_PRELOAD="+libraries[0]+" "+malloc, "FAKETIME_TIMESTAMP_FILE="+c.clock, "FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_XRESET=1", "TZ=UTC")
	return c.SetClock(0, 0)
}

// SetClock makes the process's wall clock deviate from this machine's from now on: later by step, or earlier if that is
// negative, and running at another rate, in parts per million.
func (c *Child) SetClock(step time.Duration, ratePPM int64) error {
	if c.clock == "" {
		return fmt.Errorf("%s has no clock of its own", c.Name)
	}
	text := fmt.Sprintf("%+d.%09d", int64(step/time.Second), int64((step % time.Second).Abs()))
	if step < 0 && step > -time.Second {
		text = "-" + text[1:]
	}
	if ratePPM != 0 {
		text += fmt.Sprintf(" x%d.%06d", (1_000_000+ratePPM)/1_000_000, (1_000_000+ratePPM)%1_000_000)
	}
	return c.show(text)
}

// FreezeClock sets the process's clock to a moment, and stops it.
func (c *Child) FreezeClock(at time.Time) error {
	if c.clock == "" {
		return fmt.Errorf("%s has no clock of its own", c.Name)
	}
	return c.show(at.UTC().Format("2006-01-02 15:04:05.000000000"))
}

// show says to faketime what the time is.
func (c *Child) show(text string) error {
	next := c.clock + ".next"
	if err := os.WriteFile(next, []byte(text+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(next, c.clock)
}
