package real

import "io"

// Program is a command to run as a child process.
type Program struct {
	Name string
	Args []string  // the path first
	Env  []string  // added to the environment of this process
	In   io.Reader // its standard input; may be nil
	Out  io.Writer // its standard output; nil: its log
	_    struct{}
}

// Start starts a program.
func (h *Host) Start(p Program) (*Child, error) {
	c := &Child{Name: p.Name, args: p.Args, env: p.Env, in: p.In, out: p.Out}
	return c, h.launch(c)
}
