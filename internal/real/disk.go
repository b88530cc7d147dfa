package real

import (
	"os"
)

// Flush records the present content of the process's disk, which [Child.SwitchOff] restores.
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

// SwitchOff restores the disk of a killed process to the content that the last Flush recorded, as if its machine had
// lost power.
func (c *Child) SwitchOff() error {
	if err := os.RemoveAll(c.dir); err != nil {
		return err
	}
	return os.CopyFS(c.dir, os.DirFS(c.dir+".flushed"))
}
