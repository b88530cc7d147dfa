// Package browser has pages of package page opened by a Chromium, with its network cut, and used as a reader uses them.
//
//	go test ./...
//
// It is a module of its own, so that locksim does not depend on what drives the browser. Without a Chromium there is nothing
// to test, and the tests say so.
package browser
