package clients

import (
	"os"

	"github.com/locksim/locksim/internal/command"
	"github.com/locksim/locksim/locks"
)

// mostSource is how long a file of a command's may be that is searched for a directive, in bytes.
const mostSource = 1 << 20

// Command returns the lock of a command: a program of any language and its arguments, which is
// started for each life of each client. A directive says what kind of lock it is, locksim:lock, in a comment of a file that the
// command names; declared reports whether there is one.
func Command(argv []string) (lock locks.Algorithm, declared bool, err error) {
	p, err := command.New(argv)
	if err != nil {
		return lock, false, err
	}
	return lockOf(p, argv)
}

// OnRealServers is Command for a program that is run on real servers, in real time.
func OnRealServers(argv []string) (lock locks.Algorithm, declared bool, err error) {
	p, err := command.OnRealServers(argv)
	if err != nil {
		return lock, false, err
	}
	return lockOf(p, argv)
}

func lockOf(p *command.Program, argv []string) (lock locks.Algorithm, declared bool, err error) {
	lock, err = parse(nil)
	lock.Authority = locks.Majority // of one server, too
	for _, name := range argv {
		info, failed := os.Stat(name)
		if failed != nil || !info.Mode().IsRegular() || info.Size() > mostSource {
			continue
		}
		text, failed := os.ReadFile(name)
		if failed != nil {
			return lock, false, failed
		}
		if a, found, failed := directed(name, string(text)); found {
			lock, declared, err = a, true, failed
			break
		}
	}
	lock.Name, lock.Title, lock.Source, lock.Program = p.String(), "the program "+p.String(), p.String(), p
	return lock, declared, err
}

// InRealTime reports whether a lock is that of a command that runs in real time.
func InRealTime(lock *locks.Algorithm) bool {
	p, is := lock.Program.(*command.Program)
	return is && p.Real()
}
