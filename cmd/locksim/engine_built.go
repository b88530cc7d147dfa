//go:build !carried

package main

import "io/fs"

// carried is nil: this program builds the playground's engine when it needs it.
var carried fs.FS
