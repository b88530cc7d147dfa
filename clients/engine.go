package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// engineMain is where the engine's source begins, in locksim's.
const engineMain = "internal/playground/wasm/main.go"

// BuildEngine builds locksim's engine for browsers, as WebAssembly, from its source: that around the working directory, or that from
// which this program was built. It returns it with the script of the Go distribution that starts such a program. Like clients,
// it is cached.
func BuildEngine(ctx context.Context) (engine, starter []byte, err error) {
	tools, err := findGo()
	if err != nil {
		return nil, nil, err
	}
	in, ok := Source()
	if !ok {
		return nil, nil, errors.New("the engine for browsers is built from locksim's source, which is not here: run locksim in its source")
	}
	cache, err := cacheFolder()
	if err != nil {
		return nil, nil, err
	}
	tools.browser = true
	root, problems, err := tools.run(ctx, in, "env", "GOROOT")
	if err != nil {
		return nil, nil, failed("the Go distribution is not found", problems, err)
	}
	starter, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, nil, fmt.Errorf("the Go distribution has no script that starts WebAssembly: %w", err)
	}
	folder := filepath.Join(in, filepath.Dir(engineMain))
	engine, err = tools.program(ctx, folder, cache)
	use(cache, folder, time.Now())
	return engine, starter, err
}
