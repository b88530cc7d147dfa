package parameter

import (
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TheNode is a node, a role or all nodes of a kind as a part of a sentence.
func TheNode(name string) string {
	switch name {
	case "holder", "master", "leader":
		return "the " + name
	case "":
		return "anybody"
	}
	return name
}

// TheLink is both ends of a link as a part of a sentence.
func TheLink(l *sim.Link) string {
	and := " and "
	if l.OneWay {
		and = " to "
	}
	return theNodes(l.From) + and + theNodes(l.To)
}

func theNodes(list []string) string {
	named := make([]string, len(list))
	for i, name := range list {
		named[i] = TheNode(name)
	}
	return strings.Join(named, ", ")
}

// TheMessage is a message as a part of a sentence.
func TheMessage(p *sim.Pattern) string {
	text := "a message"
	if p.What != "" {
		text = "the " + p.What
	}
	if p.Does == trace.Reply {
		text = "the answer to " + text
	}
	switch {
	case p.Node == "":
	case p.Does == trace.Reply, p.Does == trace.Send:
		text += " from " + TheNode(p.Node)
	default:
		text += " to " + TheNode(p.Node)
	}
	return text
}
