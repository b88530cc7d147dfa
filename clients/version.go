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
)

// withVersion returns a copy of a ready-made client's folder that is built with another version of its library.
func withVersion(ctx context.Context, folder, library, version, cache string) (string, error) {
	if !versionPattern.MatchString(version) {
		return "", fmt.Errorf("%q is no version of %s; want one such as v1.2.3, or latest", version, library)
	}
	tools, err := findGo()
	if err != nil {
		return "", err
	}
	copied := filepath.Join(cache, versionsFolder, fmt.Sprintf("%s@%s-%x", filepath.Base(folder), version, sha256.Sum256([]byte(folder))))
	if err := os.RemoveAll(copied); err != nil {
		return "", err
	}
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
		return "", err
	}
	if err := absolute(folder, copied); err != nil {
		return "", err
	}
	// A replacement stands even where another module asks for a later version, as locksim itself does for some.
	wanted := library + "=" + library + "@" + version
	for _, args := range [][]string{
		{"mod", "edit", "-replace=" + wanted},
		{"get", "."},
	} {
		if _, problems, err := tools.run(ctx, copied, args...); err != nil {
			return "", failed(fmt.Sprintf("%s cannot be had in version %s", library, version), problems, err)
		}
	}
	return copied, nil
}

// versionPattern is a version, or what the go command takes in its place.
var versionPattern = regexp.MustCompile(`^(v[0-9][0-9A-Za-z.+-]*|[0-9a-f]{7,40})$`)

// relative is a replacement by a folder, in a go.mod.
var relative = regexp.MustCompile(`(=> )(\.\.?/\S*)`)

// absolute has the replacements in a copy's go.mod mean the folders that they mean in the original.
func absolute(folder, copied string) error {
	return filepath.WalkDir(copied, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		out := relative.ReplaceAllStringFunc(string(text), func(match string) string {
			path, _ := strings.CutPrefix(match, "=> ")
			return "=> " + filepath.Join(folder, path)
		})
		return os.WriteFile(file, []byte(out), 0o644)
	})
}
