package clients

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// What is kept can be made again, and a program takes some 30 MB. So what nobody has used for some days goes, and what
// was used longest ago if there is much: whoever works on a client of his own makes a new program with each change.
const (
	keptFor  = 5 * 24 * time.Hour
	mostKept = 50 // in each folder
)

// cacheFolder is where programs are kept, and the copies of those that are built with other versions.
func cacheFolder() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place to keep programs in: %w", err)
	}
	folder := filepath.Join(base, "locksim")
	return folder, os.MkdirAll(folder, 0o755)
}

// The folders in the cache that have entries of their own.
const (
	compiledFolder = "compiled" // what the compiler yielded, a folder for each program
	versionsFolder = "versions" // clients with another version of their library
)

// mark notes that an entry of the cache is about to be used, lest another process clears it away, and reports whether it is
// there.
func mark(entry string, now time.Time) bool { return os.Chtimes(entry, now, now) == nil }

// use notes that an entry is about to be used, as [mark] does, and clears away what is not used. What that fails for is left
// to the next time: nobody's program has to wait for it.
func use(cache, entry string, now time.Time) {
	mark(entry, now) // it may have to be made yet
	for _, folder := range []string{cache, filepath.Join(cache, compiledFolder), filepath.Join(cache, versionsFolder)} {
		trim(folder, now)
	}
}

// trim removes from a folder what is no longer to be kept. Others may do the same meanwhile.
func trim(folder string, now time.Time) {
	entries, _ := os.ReadDir(folder)
	var kept []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || e.Name() == compiledFolder || e.Name() == versionsFolder {
			continue
		}
		kept = append(kept, info)
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for i, info := range kept {
		if i >= mostKept || now.Sub(info.ModTime()) > keptFor {
			_ = os.RemoveAll(filepath.Join(folder, info.Name()))
		}
	}
}
