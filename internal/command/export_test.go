package command

// Rests returns how often all threads of the program's processes have been seen to wait.
func (p *Program) Rests() int64 { return p.rests.Load() }
