package real

import (
	"os"
)

// Flush notes what the process has on its disk now: that is what it will find there after [Child.SwitchOff].
func (c *Child) Flush() error {
	next := c.dir + ".flushing"
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.CopyFS(next, os.DirFS(c.dir)); err != nil {
		return err
	}
	if err := os.RemoveAll(c.dir + ".flushed"); err != nil {
		return err
	}
	return os.Rename(next, c.dir+".flushed")
}

// SwitchOff puts the disk of a process that was killed back to what the last Flush has noted, as if its machine had lost
// its power.
func (c *Child) SwitchOff() error {
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	return os.CopyFS(c.dir, os.DirFS(c.dir+".flushed"))
}
