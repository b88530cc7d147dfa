package search

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Build names what is running in one word, so that results of one build are not mixed with those of another: the commit
// and the version of Go, or, where the program is not just a commit of this module, the hash of its executable. Two
// builds of one name play every scenario alike.
func Build() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if name := commit(info); name != "" {
			return name, nil
		}
	}
	return hashOfExecutable()
}

// shortHash is how many hexadecimal digits of a hash a name has.
const shortHash = 12

// commit names a program of this module that was built from a clean checkout; "" if this is none.
func commit(info *debug.BuildInfo) string {
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if info.Main.Path != modulePath || len(revision) < shortHash || settings["vcs.modified"] != "false" {
		return ""
	}
	return revision[:shortHash] + "-" + goVersion(info)
}

const modulePath = "github.com/locksim/locksim"

// goVersion is the toolchain's version without what it was built with, which stands behind a space.
func goVersion(info *debug.BuildInfo) string {
	version, _, _ := strings.Cut(info.GoVersion, " ")
	return version
}

// hashOfExecutable names the program by what it consists of, which is read once: it is the same as long as the program runs.
var hashOfExecutable = sync.OnceValues(func() (name string, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("which build is this? %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("which build is this? %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("which build is this? %w", err)
	}
	return "sha256-" + hex.EncodeToString(h.Sum(nil))[:shortHash], nil
})

// Commit returns the commit that a build's name is of, shortened; false if it is of none.
func Commit(build string) (string, bool) {
	hash, version, ok := strings.Cut(build, "-")
	_, err := hex.DecodeString(hash)
	return hash, ok && err == nil && len(hash) == shortHash && strings.HasPrefix(version, "go")
}
