package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// toolchain is the go command.
type toolchain struct {
	path    string
	browser bool // it builds for browsers, rather than for the system that simulated clients run on
}

func findGo() (*toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, errors.New("clients are built by the Go toolchain, and there is no go command in PATH: see https://go.dev/dl")
	}
	return &toolchain{path: path}, nil
}

// run runs the go command in a folder, for the system that it builds for.
func (g *toolchain) run(ctx context.Context, folder string, args ...string) (out []byte, problems string, err error) {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir = folder
	system := "wasip1"
	if g.browser {
		system = "js"
	}
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=wasm", "CGO_ENABLED=0", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, strings.TrimSpace(stderr.String()), err
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Name       string
	DepOnly    bool
	Standard   bool
	Imports    []string
	Module     *struct {
		Path, Version string
		Main          bool
		Replace       *struct{ Version string }
	}
	Error *struct{ Err string }
}

// survey refuses a folder in which no client can be, and lists the libraries that one imports, with their versions.
func (g *toolchain) survey(ctx context.Context, folder string) (modules []string, err error) {
	out, problems, err := g.run(ctx, folder, "list", "-e", "-deps", "-json=ImportPath,Name,DepOnly,Standard,Imports,Module,Error", ".")
	if err != nil {
		return nil, failed("its packages cannot be listed", problems, err)
	}
	var all []listed
	imported := make(map[string]bool) // by the program itself
	lines := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		if err := lines.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		switch {
		case p.Error != nil && p.DepOnly:
			return nil, failed("it cannot be built: "+p.ImportPath+" is missing", p.Error.Err, nil)
		case p.Error != nil:
			return nil, failed("it cannot be built", p.Error.Err, nil)
		case !p.DepOnly && p.Name != "main":
			return nil, fmt.Errorf("it is package %s, and a program is package main", p.Name)
		}
		all = append(all, p)
		if p.isClient() {
			for _, path := range p.Imports {
				imported[path] = true
			}
		}
	}
	if !slices.ContainsFunc(all, func(p listed) bool { return p.ImportPath == modulePath+"/guest" }) {
		return nil, fmt.Errorf("it does not speak to the simulation: import %s/guest, and call guest.Register from an init function",
			modulePath)
	}
	for _, p := range all {
		if text := p.library(); text != "" && imported[p.ImportPath] && !slices.Contains(modules, text) {
			modules = append(modules, text)
		}
	}
	return modules, nil
}

// isClient reports whether a package is the program's own, or another client's that it shares.
func (p *listed) isClient() bool {
	return p.Module != nil && (p.Module.Main || strings.HasPrefix(p.Module.Path, modulePath+"/"))
}

// library is the module of a package, with its version; "" if it is a client's, locksim's or Go's.
func (p *listed) library() string {
	m := p.Module
	if p.Standard || m == nil || p.isClient() || m.Path == modulePath {
		return ""
	}
	version := m.Version
	if m.Replace != nil && m.Replace.Version != "" {
		version = m.Replace.Version
	}
	return strings.TrimSpace(m.Path + " " + version)
}

// build builds the program in a folder. Without paths in it, it is the same program wherever it is built.
func (g *toolchain) build(ctx context.Context, folder, file string) error {
	as := []string{"-buildmode=c-shared"}
	if g.browser {
		as = []string{"-ldflags=-s -w"}
	}
	_, problems, err := g.run(ctx, folder, append(append([]string{"build"}, as...), "-trimpath", "-buildvcs=false", "-o", file, ".")...)
	if err == nil {
		return nil
	}
	if strings.Contains(problems, "function main is undeclared in the main package") {
		return errors.New("it has no func main: add func main() {}, which never runs, but without which nothing is a program")
	}
	if culprit := stranger(problems); culprit != "" {
		return failed(fmt.Sprintf("%s cannot be compiled for WebAssembly (wasip1)", culprit), problems, err)
	}
	return failed("it does not compile", problems, err)
}

// stranger returns the package of another module that the compiler complains of; "" if it is the program's own, whose files
// it names without a path.
func stranger(problems string) string {
	culprit := ""
	for line := range strings.SplitSeq(problems, "\n") {
		if name, ok := strings.CutPrefix(line, "# "); ok {
			culprit = name
			continue
		}
		if culprit != "" && strings.Contains(strings.ReplaceAll(line, `\`, "/"), "@v") {
			return culprit
		}
	}
	return ""
}

// mostLines is how much of what the go command says is passed on.
const mostLines = 8

// failed is an error with what the go command says below it.
func failed(what, problems string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(problems), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines], "...")
	}
	if lines[0] == "" && err != nil {
		lines[0] = err.Error()
	}
	return errors.New(what + "\n  " + strings.Join(lines, "\n  "))
}
