package real

import "io"

// Program is a command to run as a child process.
type Program struct {
	Name string
	Args []string  // the path first
	Dir  string    // where it runs; "": in a directory of its own
	Env  []string  // added to the environment of this process
	In   io.Reader // its standard input; may be nil
	Out  io.Writer // its standard output; nil: its log
	Err  io.Writer // is given what goes to its log; may be nil
	// Group has it stopped and killed with all processes of its group: those that it has started.
	Group bool
	_     struct{}
}

// Start starts a program.
func (h *Host) Start(p Program) (*Child, error) {
	c := &Child{Name: p.Name, args: p.Args, at: p.Dir, env: p.Env, in: p.In, out: p.Out, err: p.Err, group: p.Group}
	return c, h.launch(c)
}
