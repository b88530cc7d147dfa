package real

import (
	"errors"
	"io"
	"os/exec"
	"sync"
)

// janitor is a process that removes a directory when this one is gone, however it ended.
type janitor struct {
	input io.Closer
	wait  func() error
	once  sync.Once
}

// newJanitor starts one. It waits for the end of its input, which this process never writes to, and which ends with it.
func newJanitor(dir string) (*janitor, error) {
	cmd := exec.Command("sh", "-c", `cat >/dev/null; rm -rf "$0" || { sleep 1; rm -rf "$0"; }`, dir)
	cmd.SysProcAttr = apart() // a Ctrl-C is none of its business
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, input.Close())
	}
	return &janitor{input: input, wait: cmd.Wait}, nil
}

func (j *janitor) close() (err error) {
	j.once.Do(func() { err = errors.Join(j.input.Close(), j.wait()) })
	return err
}
