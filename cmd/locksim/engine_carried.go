//go:build carried

package main

import (
	"embed"
	"io/fs"
)

// carried is the playground's engine in a released locksim: .ci/release puts it there.
//
//go:embed engine/locksim.wasm.br engine/wasm_exec.js
var carriedFiles embed.FS

var carried fs.FS = carriedFiles
