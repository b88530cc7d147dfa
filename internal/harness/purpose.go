package harness

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
)

// The purposes of a command: the second name by which traces and faults know a message.
const (
	acquire = "acquire" // may make the lock's key
	look    = "look"    // looks whether it is there
	renew   = "renew"   // prolongs its life
	release = "release" // may remove it
)

// purpose returns a lock's purpose of a command: that of a script follows from its name, or from its text if it is not
// declared; that of another command from its effect on keys. The actual effect of a request is never guessed: the
// observer sees it.
func (w *world) purpose(args []string) string {
	switch strings.ToUpper(args[0]) {
	case "EVAL":
		if len(args) < 2 {
			return ""
		}
		return w.scriptPurpose(args[1])
	case "EVALSHA":
		if len(args) < 2 {
			return ""
		}
		return w.digestPurpose(strings.ToLower(args[1]))
	case "SCRIPT":
		if len(args) == 3 && strings.EqualFold(args[1], "LOAD") {
			w.scriptPurpose(args[2])
		}
		return ""
	case "SET", "SETNX", "SETEX", "PSETEX", "GETSET", "MSETNX", "HSETNX":
		return acquire
	case "DEL", "UNLINK", "GETDEL":
		return release
	case "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST":
		return renew
	case "GET", "EXISTS", "TTL", "PTTL":
		return look
	}
	return ""
}

// scriptPurpose returns the purpose of a script. One that was not declared is remembered by the digest under which
// EVALSHA may name it.
func (w *world) scriptPurpose(body string) string {
	for _, script := range w.plan.Algorithm.Scripts {
		if script.Body == body {
			return script.Name
		}
	}
	if purpose, ok := w.scripts[body]; ok {
		return purpose
	}
	purpose := purposeOfText(body)
	w.remember(body, purpose)
	w.remember(digest(body), purpose)
	return purpose
}

// digestPurpose returns the purpose of the script that has a digest; "" if none is known that has.
func (w *world) digestPurpose(sha string) string {
	if purpose, ok := w.scripts[sha]; ok {
		return purpose
	}
	for _, script := range w.plan.Algorithm.Scripts {
		if digest(script.Body) == sha {
			w.remember(sha, script.Name)
			return script.Name
		}
	}
	return ""
}

// remember notes the purpose of a script by its text or its digest.
func (w *world) remember(name, purpose string) {
	if w.scripts == nil {
		w.scripts = make(map[string]string)
	}
	w.scripts[name] = purpose
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
		{"del", release}, {"unlink", release}, {"set", acquire}, {"setnx", acquire}, {"hset", acquire},
		{"hsetnx", acquire}, {"hincrby", acquire}, {"psetex", acquire}, {"expire", renew}, {"pexpire", renew},
		{"expireat", renew}, {"pexpireat", renew},
		{"get", look}, {"exists", look},
	} {
		if strings.Contains(body, "'"+p.command+"'") || strings.Contains(body, `"`+p.command+`"`) {
			return p.purpose
		}
	}
	return ""
}
