package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// names is a flag that lists names of a known list: one or more, separated by commas. "all" stands for all of them, and
// a name behind a minus is left out. "none" stands for none of them where that means something.
type names struct {
	what    string // of what they are names: "kind of fault"
	allowed []string
	extra   []string // that are allowed, too, but not meant by all
	orNone  bool
	chosen  []string // in the order of allowed
	given   bool     // by the user
}

// String returns the names as Set reads them.
func (n *names) String() string { return strings.Join(n.chosen, ",") }

// Set reads the names.
func (n *names) Set(text string) error {
	n.given = true
	if n.orNone && text == "none" {
		n.chosen = nil
		return nil
	}
	in := make(map[string]bool)
	for i, word := range strings.Split(text, ",") {
		name, out := strings.CutPrefix(word, "-")
		if word == "all" || out && i == 0 {
			for _, each := range n.allowed {
				in[each] = true
			}
		}
		switch {
		case word == "all":
		case word == "none" && n.orNone:
			return errors.New("none cannot be combined with other names")
		case name == "all":
			return errors.New("all cannot be excluded; want none, or names")
		case slices.Contains(n.allowed, name), slices.Contains(n.extra, name):
			in[name] = !out
		default:
			return n.unknown(name)
		}
	}
	n.chosen = slices.DeleteFunc(slices.Concat(n.allowed, n.extra), func(each string) bool { return !in[each] })
	if len(n.chosen) == 0 {
		return fmt.Errorf("no %s is left", n.what)
	}
	return nil
}

func (n *names) unknown(name string) error {
	if near := nearest(name, slices.Concat(n.allowed, n.extra)); near != "" {
		return fmt.Errorf("there is no %s %q; did you mean %q?", n.what, name, near)
	}
	all := "all"
	if n.orNone {
		all = "all, none"
	}
	return fmt.Errorf("there is no %s %q; want %s, or some of %s", n.what, name, all, strings.Join(n.allowed, ", "))
}

// chosen returns what names of a flag stand for.
func chosen[T any](n *names, parse func(string) (T, bool)) []T {
	var list []T
	for _, name := range n.chosen {
		if x, ok := parse(name); ok {
			list = append(list, x)
		}
	}
	return list
}
