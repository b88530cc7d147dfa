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

// purpose says what a lock wants with a command: with a script what its name says, or what its text suggests if it has
// not been declared; with another command what it does to keys. What a request really did is never guessed: that the
// observer sees.
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
		sha := strings.ToLower(args[1])
		if purpose, ok := w.plan.purposes[sha]; ok {
			return purpose
		}
		return w.guessed[sha]
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
	if purpose, ok := w.plan.purposes[body]; ok {
		return purpose
	}
	if purpose, ok := w.guessed[body]; ok {
		return purpose
	}
	if w.guessed == nil {
		w.guessed = make(map[string]string)
	}
	purpose := purposeOfText(body)
	w.guessed[body], w.guessed[digest(body)] = purpose, purpose
	return purpose
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
		{"get", look}, {"exists", look},
	} {
		if strings.Contains(body, "'"+p.command+"'") || strings.Contains(body, `"`+p.command+`"`) {
			return p.purpose
		}
	}
	return ""
}
