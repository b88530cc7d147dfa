package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/backend/all"
	"github.com/locksim/locksim/locks"
)

// directive begins a comment in a program's source that says what kind of lock it brings:
//
//	//locksim:lock servers=zookeeper authority=queue key=/locks/{key} deadline=monotonic token renews
//
// What it leaves out is as of a lock on one Redis server that makes one key. Of several keys, divided by commas, most make a
// holder.
const directive = "locksim:lock"

// The allowed words of a directive.
var (
	kinds       = served()
	authorities = map[string]locks.Authority{
		"none": locks.NoAuthority, "one-node": locks.OneNode, "majority": locks.Majority, "queue": locks.Queue,
	}
	clocks = map[string]locks.ClockKind{"none": locks.NoClock, "monotonic": locks.OnMonotonic, "wall": locks.OnWall}
)

// served lists the kinds of servers that programs can talk to.
func served() []string {
	var names []string
	for _, k := range all.Kinds() {
		if k.Facts().Serves {
			names = append(names, k.Facts().Name)
		}
	}
	return names
}

// queues reports whether a lock on servers of a kind is a node of its own in a queue, rather than a value.
func queues(a *locks.Algorithm) bool {
	f := all.Find(a.Servers).Facts()
	return f.InSession() && !f.Elects || f.Leased()
}

// declared returns what the source in a folder says of its lock.
func declared(folder string) (locks.Algorithm, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return locks.Algorithm{}, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return locks.Algorithm{}, err
		}
		if a, found, err := directed(file, string(text)); found {
			return a, err
		}
	}
	return parse(nil)
}

// directed reads the directive in a source file, if it has one.
func directed(file, text string) (a locks.Algorithm, found bool, err error) {
	for number, line := range strings.Split(text, "\n") {
		words, ok := strings.CutPrefix(strings.TrimLeft(line, " \t/#-;%*"), directive)
		words = strings.TrimRight(words, " \t\r*/")
		if !ok || words != "" && words[0] != ' ' {
			continue
		}
		a, err := parse(strings.Fields(words))
		if err != nil {
			err = fmt.Errorf("%s:%d: //%s: %w", file, number+1, directive, err)
		}
		return a, true, err
	}
	return a, false, nil
}

// parse reads the words of a directive.
func parse(words []string) (locks.Algorithm, error) {
	a := locks.Algorithm{Servers: kinds[0], Authority: locks.OneNode, Identity: "value", Lease: true}
	keys, judged := "", false
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		known := true
		switch name {
		case "servers":
			a.Servers, known = value, slices.Contains(kinds, value)
		case "authority":
			a.Authority, known = authorities[value]
			judged = true
		case "deadline":
			a.Deadline, known = clocks[value]
		case "key":
			keys = value
		case "token":
			a.Token, known = true, word == name
		case "renews":
			a.Renews, known = true, word == name
		case "extends":
			a.Extends, known = true, word == name
		case "sentinel":
			a.Sentinel, known = true, word == name
		case "cluster":
			a.Cluster, known = true, word == name
		case "connects":
			a.Connects, known = true, word == name
		default:
			return a, fmt.Errorf("there is no %q; want servers=%s, authority=one-node|majority|queue|none, key=NAME, "+
				"deadline=none|monotonic|wall, token, renews, extends, sentinel, cluster, connects", name, strings.Join(kinds, "|"))
		}
		if !known {
			return a, fmt.Errorf("%s cannot be %q", name, value)
		}
	}
	switch {
	case queues(&a):
		a.Identity = "own node"
		if !judged {
			a.Authority = locks.Queue
		}
		if all.Find(a.Servers).Facts().Leased() {
			a.Identity, a.Keeps = "lease", true
		}
	case all.Find(a.Servers).Facts().InSession():
		a.Identity, a.Keeps = "session", true
	}
	return a, watch(&a, keys)
}

// watch has the keys observed that make a holder.
func watch(a *locks.Algorithm, keys string) error {
	queue := queues(a)
	switch {
	case a.Servers != kinds[0] && (a.Sentinel || a.Cluster || a.Connects):
		return errors.New("sentinel, cluster and connects are of clients of Redis")
	case queue && a.Authority != locks.Queue && a.Authority != locks.OneNode && a.Authority != locks.NoAuthority,
		!queue && a.Authority == locks.Queue:
		return fmt.Errorf("no such authority is on servers of the kind %s", a.Servers)
	case keys == "" && queue && !all.Find(a.Servers).Facts().Leased():
		a.Key = nodeOf
	case strings.Contains(keys, ","):
		if queue || a.Authority != locks.OneNode {
			return fmt.Errorf("several keys are of a lock on one Redis server, not %s", keys)
		}
		a.Authority = locks.MostKeys
		a.Keys = func(o locks.Options) []string { return strings.Split(named(keys, o), ",") }
	case keys != "":
		a.Key = func(o locks.Options) string { return named(keys, o) }
	}
	return nil
}

// named puts the lock's name into a key.
func named(key string, o locks.Options) string { return strings.ReplaceAll(key, "{key}", o.Key) }
