package clients

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// older says how a client's source is read to be built with versions of its library before one: each text is replaced by the next one.
type older struct {
	before  string
	replace []string
}

// Where go-redis was before v9.0.0, and before its release candidates.
const (
	goRedis          = `"github.com/redis/go-redis/v9"`
	goRedisCandidate = `"github.com/go-redis/redis/v9"`
	goRedis8         = `"github.com/go-redis/redis/v8"`
)

// Older versions of redsync have no TryLock, no go-redis v9, no pointer in their errors, and no type for those of servers.
func olderRedsync() []older {
	const once = `func(ctx context.Context) error {
			redsync.WithTries(1).Apply(m)
			defer redsync.WithTries(tries).Apply(m)
			return m.LockContext(ctx)
		}`
	return []older{
		{"v4.11.0", []string{"m.TryLockContext", once}},
		{"v4.8.0", []string{
			goRedis, goRedis8, "redsync/v4/redis/goredis/v9", "redsync/v4/redis/goredis/v8", "= *redsync.RedisError", "= redsync.RedisError",
		}},
		{"v4.7.0", []string{"= redsync.RedisError", "= interface{ WrappedErrors() []error }"}},
	}
}

func olderRedislock() []older {
	return []older{{"v0.9.0", []string{goRedis, goRedisCandidate}}, {"v0.8.0", []string{goRedisCandidate, goRedis8}}}
}

// asOf returns a file of the client's as it is to be built with a version of the library, which may be a commit: then as it is.
// Modules that are released together are used with what they asked for at the time.
func (c *Client) asOf(version, file, text string) string {
	switch {
	case file == "go.mod" && c.together != nil:
		return indirect.ReplaceAllString(text, "")
	case filepath.Ext(file) != ".go" || !semver.IsValid(version):
		return text
	}
	for _, o := range c.older {
		if semver.Compare(version, o.before) < 0 {
			text = strings.NewReplacer(o.replace...).Replace(text)
		}
	}
	return text
}

// indirect is a line of a go.mod for a module that others ask for.
var indirect = regexp.MustCompile(`(?m)^\t.* // indirect\n`)

// unlisted says of a version that is none of those that the client is for, which may be why it cannot be built, where they are named.
func (c *Client) unlisted(what string) string {
	_, version, other := strings.Cut(what, "@")
	if !other || isFolder(what) || slices.Contains(c.Versions(), version) {
		return ""
	}
	return " (locksim list locks names the versions that it is for)"
}
