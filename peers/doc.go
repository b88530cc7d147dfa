// Package peers measures locksim beside what one would write by hand to test a lock on five Redis servers without a network:
// redsync and go-redis against five in-process servers of miniredis, in a bubble of testing/synctest whose clock is virtual,
// with rapid to draw what happens. Both do the same work.
//
//	go test -bench . ./...
//
// It is a module of its own, so that locksim does not depend on what it is compared with.
package peers
