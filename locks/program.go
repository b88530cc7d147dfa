package locks

// Program is the code of a client that contains its own lock, in place of a [Builder]. Code that plays runs can run it.
type Program interface {
	// Digest identifies the code: findings with another build of it say nothing about this one.
	Digest() string
}

// Varies reports whether a lock is that of a program that may do something else in another run of the same schedule, as one
// with threads of an operating system may. A run of it takes tenths of a second.
func (a *Algorithm) Varies() bool {
	_, is := a.Program.(interface{ Varies() })
	return is
}
