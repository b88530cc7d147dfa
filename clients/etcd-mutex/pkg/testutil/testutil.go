// Package testutil is what the client's own tests import, which `go mod tidy` looks for.
package testutil
