// Package wasm runs client programs that were compiled to WebAssembly as processes of the engine: their clocks, randomness and
// connections are the simulation's, and so are their pauses and crashes.
package wasm

import _ "github.com/tetratelabs/wazero" // the runtime
