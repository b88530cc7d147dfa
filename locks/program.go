package locks

// Program is the code of a client that brings its lock with it, in place of a [Builder]. Whoever plays runs can run it.
type Program interface {
	// Digest identifies the code: what was found with another build of it says nothing of this one.
	Digest() string
}
