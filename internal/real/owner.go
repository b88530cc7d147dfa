//go:build unix

package real

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the user and group of a process.
type owner = syscall.Credential

// unprivileged makes a directory for a server that refuses to be root's, and returns whose process it is to be: that of the
// user whom Debian's package has made for it, or nobody's. If we are not root it is ours.
func (h *Host) unprivileged(dir, name string) (*owner, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil || os.Getuid() != 0 {
		return nil, err
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return nil, err
	}
	return &owner{Uid: uint32(uid), Gid: uint32(gid)}, os.Chmod(h.dir, 0o711) // so that it gets there
}
