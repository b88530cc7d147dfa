package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// Purposes are what the commands of a lock are for.
type Purposes struct {
	declared []locks.Script
	known    map[string]string // purposes that were not at hand, by the script's text or digest
}

// PurposesOf returns the purposes of the commands of a lock that declares these scripts.
func PurposesOf(declared []locks.Script) *Purposes { return &Purposes{declared: declared} }

// Of returns a lock's purpose of a command: that of a script follows from its name, or from its text if it is not
// declared; that of another command from its effect on keys. The actual effect of a request is never guessed: the
// observer sees it.
func (q *Purposes) Of(args []string) string {
	switch strings.ToUpper(args[0]) {
	case "EVAL":
		if len(args) < 2 {
			return ""
		}
		return q.scriptPurpose(args[1])
	case "EVALSHA":
		if len(args) < 2 {
			return ""
		}
		return q.digestPurpose(strings.ToLower(args[1]))
	case "SCRIPT":
		if len(args) == 3 && strings.EqualFold(args[1], "LOAD") {
			q.scriptPurpose(args[2])
		}
		return ""
	case "SET":
		if len(args) > 3 && slices.ContainsFunc(args[3:], func(s string) bool { return strings.EqualFold(s, "IFEQ") }) {
			return trace.ToRenew
		}
		return trace.ToAcquire
	case "SETNX", "SETEX", "PSETEX", "GETSET", "MSETNX", "HSETNX":
		return trace.ToAcquire
	case "DEL", "UNLINK", "GETDEL", "DELEX", "DELIFEQ":
		return trace.ToRelease
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST":
		return trace.ToRenew
	case "GETEX":
		if len(args) > 2 {
			return trace.ToRenew
		}
		return trace.ToLook
	case "GET", "EXISTS", "TTL", "PTTL":
		return trace.ToLook
	}
	return ""
}

// scriptPurpose returns the purpose of a script. One that was not declared is remembered by the digest under which
// EVALSHA may name it.
func (q *Purposes) scriptPurpose(body string) string {
	for _, script := range q.declared {
		if script.Body == body {
			return script.Name
		}
	}
	if purpose, ok := q.known[body]; ok {
		return purpose
	}
	purpose := purposeOfText(body)
	q.remember(body, purpose)
	q.remember(digest(body), purpose)
	return purpose
}

// digestPurpose returns the purpose of the script that has a digest; "" if none is known that has.
func (q *Purposes) digestPurpose(sha string) string {
	if purpose, ok := q.known[sha]; ok {
		return purpose
	}
	for _, script := range q.declared {
		if digest(script.Body) == sha {
			q.remember(sha, script.Name)
			return script.Name
		}
	}
	return ""
}

// remember notes the purpose of a script by its text or its digest.
func (q *Purposes) remember(name, purpose string) {
	if q.known == nil {
		q.known = make(map[string]string)
	}
	q.known[name] = purpose
}

// digest is the name that EVALSHA gives a script.
func digest(body string) string {
	sum := sha1.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// purposeOfText goes by the commands that a script calls: one that may delete is a release, even if it also writes;
// else one that writes acquires; else one that sets a time to live renews.
func purposeOfText(body string) string {
	body = strings.ToLower(body)
	for _, p := range []struct{ command, purpose string }{
		{"del", trace.ToRelease}, {"unlink", trace.ToRelease}, {"set", trace.ToAcquire}, {"setnx", trace.ToAcquire}, {"hset", trace.ToAcquire},
		{"hsetnx", trace.ToAcquire}, {"hincrby", trace.ToAcquire}, {"psetex", trace.ToAcquire}, {"expire", trace.ToRenew}, {"pexpire", trace.ToRenew},
		{"expireat", trace.ToRenew}, {"pexpireat", trace.ToRenew},
		{"get", trace.ToLook}, {"exists", trace.ToLook},
	} {
		if strings.Contains(body, "'"+p.command+"'") || strings.Contains(body, `"`+p.command+`"`) {
			return p.purpose
		}
	}
	return ""
}
