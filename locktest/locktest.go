// Package locktest tests locks under faults, in go test.
package locktest
