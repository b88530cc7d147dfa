package clients

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// withVersion returns a copy of a ready-made client's folder that is built with another version of its library. It is made
// once, and nobody alters what is made: another process may be building there.
func withVersion(ctx context.Context, folder, library, version, cache string) (string, error) {
	if !versionPattern.MatchString(version) {
		return "", fmt.Errorf("%q is no version of %s; want one such as v1.2.3, or a commit such as 1a2b3c4", version, library)
	}
	tools, err := findGo()
	if err != nil {
		return "", err
	}
	versions := filepath.Join(cache, versionsFolder)
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(versions, "making-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, os.DirFS(folder)); err != nil {
		return "", err
	}
	sum, err := settle(folder, work)
	if err != nil {
		return "", err
	}
	made := filepath.Join(versions, fmt.Sprintf("%s@%s-%x", filepath.Base(folder), version, sum))
	if mark(made, time.Now()) {
		return made, nil
	}
	// A replacement stands even where another module asks for a later version, as locksim itself does for some.
	wanted := library + "=" + library + "@" + version
	for _, args := range [][]string{
		{"mod", "edit", "-replace=" + wanted},
		{"get", "."},
	} {
		if _, problems, err := tools.run(ctx, work, args...); err != nil {
			return "", failed(fmt.Sprintf("%s cannot be had in version %s", library, version), problems, err)
		}
	}
	if err := os.Rename(work, made); err != nil && !mark(made, time.Now()) { // by another process, meanwhile
		return "", err
	}
	return made, nil
}

// versionPattern is a version, or what the go command takes in its place.
var versionPattern = regexp.MustCompile(`^(v[0-9][0-9A-Za-z.+-]*|[0-9a-f]{7,40})$`)

// relative is a replacement by a folder, in a go.mod.
var relative = regexp.MustCompile(`(=> )(\.\.?/\S*)`)

// settle has the replacements in a copy's go.mod mean the folders that they mean in the original, and returns a digest of all
// that a build of the copy depends on, but for the code in those folders, which is read when it is built.
func settle(folder, copied string) ([]byte, error) {
	sum := sha256.New()
	err := filepath.WalkDir(copied, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if d.Name() == "go.mod" {
			var asked []byte // what the folders ask for in their turn
			text = relative.ReplaceAllFunc(text, func(match []byte) []byte {
				replaced := filepath.Join(folder, strings.TrimPrefix(string(match), "=> "))
				also, _ := os.ReadFile(filepath.Join(replaced, "go.mod")) // without one the build says so
				asked = append(asked, also...)
				return []byte("=> " + replaced)
			})
			sum.Write(asked)
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return err
			}
		}
		fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(file, copied), len(text), text)
		return nil
	})
	return sum.Sum(nil), err
}
