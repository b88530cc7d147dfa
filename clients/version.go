package clients

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// withVersion returns a copy of a ready-made client's folder that is built with another version of its library. It is made
// once, and nobody alters what is made: another process may be building there.
func (c *Client) withVersion(ctx context.Context, in, version, cache string) (string, error) {
	if !versionPattern.MatchString(version) {
		return "", fmt.Errorf("%q is no version of %s; want one such as v1.2.3, or a commit such as 1a2b3c4", version, c.Library)
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
	sum, err := assemble(in, c.Folder, work, func(file, text string) string { return c.asOf(version, file, text) })
	if err != nil {
		return "", err
	}
	made := filepath.Join(versions, fmt.Sprintf("%s@%s-%x", c.Folder, version, sum))
	if mark(made, time.Now()) {
		return filepath.Join(made, c.Folder), nil
	}
	// A replacement stands even where another module asks for a later version, as locksim itself does for some.
	edit := []string{"mod", "edit"}
	for _, module := range append([]string{c.Library}, c.together...) {
		edit = append(edit, "-replace="+module+"="+module+"@"+version)
	}
	for _, args := range [][]string{edit, {"get", "."}} {
		if _, problems, err := tools.run(ctx, filepath.Join(work, c.Folder), args...); err != nil {
			return "", failed(fmt.Sprintf("%s cannot be had in version %s", c.Library, version), problems, err)
		}
	}
	if err := os.Rename(work, made); err != nil && !mark(made, time.Now()) { // by another process, meanwhile
		return "", err
	}
	return filepath.Join(made, c.Folder), nil
}

// versionPattern is a version, or what the go command takes in its place.
var versionPattern = regexp.MustCompile(`^(v[0-9][0-9A-Za-z.+-]*|[0-9a-f]{7,40})$`)

// relative is a replacement by a folder, in a go.mod.
var relative = regexp.MustCompile(`=> (\.\.?/\S*)`)

// assemble copies a client's folder, and those beside it whose code it shares, into another one, where each keeps its name. The
// files are rewritten, and a replacement by a folder that is not copied means the folder that it means in the original. The digest
// is of all that a build of the copy depends on, but for the code in such folders, which is read when it is built.
func assemble(in, folder, into string, rewrite func(file, text string) string) ([]byte, error) {
	names := []string{folder}
	text, err := os.ReadFile(filepath.Join(in, folder, "go.mod"))
	if err != nil {
		return nil, err
	}
	for _, match := range relative.FindAllSubmatch(text, -1) {
		if beside := filepath.Join(in, folder, string(match[1])); filepath.Dir(beside) == filepath.Clean(in) {
			names = append(names, filepath.Base(beside))
		}
	}
	sum := sha256.New()
	for _, name := range names {
		copied := filepath.Join(into, name)
		if err := os.CopyFS(copied, os.DirFS(filepath.Join(in, name))); err != nil {
			return nil, err
		}
		err := filepath.WalkDir(copied, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			before, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text := rewrite(d.Name(), string(before))
			if d.Name() == "go.mod" {
				text = settle(text, filepath.Join(in, name), names, sum)
			}
			fmt.Fprintf(sum, "%s %d\n%s", strings.TrimPrefix(file, into), len(text), text)
			return os.WriteFile(file, []byte(text), 0o644)
		})
		if err != nil {
			return nil, err
		}
	}
	return sum.Sum(nil), nil
}

// settle returns the go.mod of a folder as it is to stand in a copy, and writes what the folders that are not copied ask for in their turn.
func settle(text, folder string, copied []string, asked io.Writer) string {
	return relative.ReplaceAllStringFunc(text, func(match string) string {
		replaced := filepath.Join(folder, strings.TrimPrefix(match, "=> "))
		if filepath.Dir(replaced) == filepath.Dir(folder) && slices.Contains(copied, filepath.Base(replaced)) {
			return match
		}
		also, _ := os.ReadFile(filepath.Join(replaced, "go.mod")) // without one the build says so
		_, _ = asked.Write(also)
		return "=> " + replaced
	})
}
