// Package peers compares locksim with a hand-written test of a lock on five Redis servers without a network: redsync
// and go-redis against five in-process servers of miniredis, in a bubble of testing/synctest whose clock is virtual,
// with rapid to draw the faults. Both do the same work.
//
//	go test -bench . ./...
//
// It is a separate module, so that locksim does not depend on these libraries.
package peers
