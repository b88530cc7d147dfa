// Package fuzz hunts for violations of a lock: it plays drawn scenarios, as many as it is given time for, and groups what
// it finds by cause.
package fuzz
