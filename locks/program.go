package locks

// Program is the code of a client that contains its own lock, in place of a [Builder]. Code that plays runs can run it.
type Program interface {
	// Digest identifies the code: findings with another build of it say nothing about this one.
	Digest() string
}
