package clients

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/wasm"
	"github.com/locksim/locksim/locks"
)

// Build builds a client, named as for [Is], and returns its lock, whose Program is set. Builds are cached, so that only
// the first one takes long. The first line of the error says what is wrong; the lines below are the compiler's output.
func Build(ctx context.Context, what string) (locks.Algorithm, error) {
	cache, err := cacheFolder()
	if err != nil {
		return locks.Algorithm{}, err
	}
	lock, client, err := described(what)
	if err != nil {
		return locks.Algorithm{}, err
	}
	kept, err := shippedAs(what)
	if err != nil {
		return locks.Algorithm{}, err
	}
	code, modules, err := kept.read()
	if err == nil && code == nil {
		var folder string
		if folder, err = source(ctx, what, client, cache); err != nil {
			return locks.Algorithm{}, err
		}
		if code, modules, err = compile(ctx, folder, cache); err == nil {
			code, modules, err = kept.write(code, modules)
		}
	}
	if err != nil {
		return locks.Algorithm{}, fmt.Errorf("client %s%s: %w", what, client.unlisted(what), err)
	}
	if len(modules) > 0 {
		lock.Source = strings.Join(modules, ", ")
	}
	compiled := filepath.Join(cache, compiledFolder, fmt.Sprintf("%x", sha256.Sum256(code)))
	use(cache, compiled, time.Now())
	program, err := wasm.Load(code, compiled)
	if err != nil {
		return locks.Algorithm{}, fmt.Errorf("client %s: %w", what, err)
	}
	lock.Program = program
	return lock, nil
}

// described returns what is known of a client's lock before it is built. The client is none of the ready-made ones if it is in a folder of
// the user's.
func described(what string) (lock locks.Algorithm, c Client, err error) {
	if isFolder(what) {
		folder, err := ownFolder(what)
		if err != nil {
			return lock, c, err
		}
		lock, err = declared(folder)
		lock.Name, lock.Title, lock.Source = what, "the program in "+what, what
		return lock, c, err
	}
	name, version, other := strings.Cut(what, "@")
	c, ok := find(name)
	if !ok {
		return lock, c, fmt.Errorf("there is no client %q; want %s, or a folder such as ./%s", name, strings.Join(Names(), ", "), name)
	}
	if lock = c.Lock; other {
		lock.Name, lock.Title = what, lock.Title+", version "+version
	}
	return lock, c, nil
}

// source returns the folder of a client's program.
func source(ctx context.Context, what string, c Client, cache string) (string, error) {
	if isFolder(what) {
		return ownFolder(what)
	}
	in, err := home()
	if err != nil {
		return "", err
	}
	if _, version, other := strings.Cut(what, "@"); other {
		return c.withVersion(ctx, in, version, cache)
	}
	return filepath.Join(in, c.Folder), nil
}

// ownFolder is a folder of the user's with Go code in it.
func ownFolder(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %s", name)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is no folder: a client is a package of Go", name)
	}
	return filepath.Abs(name)
}

// compile builds the program in a folder, and lists its libraries. It begins with what was built there
// last: the Go toolchain sees whether anything has changed since.
func compile(ctx context.Context, folder, cache string) (code []byte, modules []string, err error) {
	tools, err := findGo()
	if err != nil {
		return nil, nil, err
	}
	if modules, err = tools.survey(ctx, folder); err != nil {
		return nil, nil, err
	}
	code, err = tools.program(ctx, folder, cache)
	return code, modules, err
}

// program builds the program in a folder, and keeps it.
func (g *toolchain) program(ctx context.Context, folder, cache string) ([]byte, error) {
	kept := filepath.Join(cache, fmt.Sprintf("%s-%x.wasm", filepath.Base(folder), sha256.Sum256([]byte(folder))))
	work, err := os.CreateTemp(cache, "building-*.wasm")
	if err != nil {
		return nil, err
	}
	defer os.Remove(work.Name())
	if before, err := os.ReadFile(kept); err == nil {
		_, err = work.Write(before)
		if err != nil {
			return nil, errors.Join(err, work.Close())
		}
	}
	if err := work.Close(); err != nil {
		return nil, err
	}
	if err := g.build(ctx, folder, work.Name()); err != nil {
		return nil, err
	}
	code, err := os.ReadFile(work.Name())
	if err != nil {
		return nil, err
	}
	return code, os.Rename(work.Name(), kept)
}
