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

// Cached programs can be rebuilt, and each takes about 30 MB. So programs that were not used for some days are
// evicted, and the least recently used ones if there are many: an author of a client makes a new program with each
// change.
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

// The folders in the cache that have separate entries.
const (
	compiledFolder = "compiled" // what the compiler yielded, a folder for each program
	versionsFolder = "versions" // clients with another version of their library
)

// mark records that an entry of the cache is about to be used, so that no other process evicts it, and reports whether
// it exists.
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
