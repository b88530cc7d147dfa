package scenarios

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/locksim/locksim/internal/backend"
	"github.com/locksim/locksim/internal/backend/all"
)

func kindNames() []string {
	var names []string
	for _, k := range all.Kinds() {
		names = append(names, k.Facts().Name)
	}
	return names
}

// Kind returns what there is to know of servers of a kind; of those of a scenario that names no kind if the name is none.
func Kind(name string) backend.Kind { return all.Find(name) }

// Backend returns what there is to know of servers of the kind.
func (s Servers) Backend() backend.Kind { return Kind(s.Kind) }

// Facts returns what is true of all servers of the kind.
func (s Servers) Facts() *backend.Facts { return s.Backend().Facts() }

// Shape returns what the deployment comes to.
func (s Servers) Shape() backend.Shape { return s.Backend().Shape((*backend.Servers)(&s)) }

// Words says which servers there are: "an ensemble of 3 ZooKeeper servers".
func (s Servers) Words() string { return s.Backend().Words((*backend.Servers)(&s)) }

// Title returns what people call servers of the kind: "ZooKeeper" for "zookeeper".
func (s Servers) Title() string { return s.Facts().Title }

// Entry returns the word for what the servers keep of a lock that is held: "key", "znode" or "lock".
func (s Servers) Entry() string { return s.Facts().Entry }

// Holds returns the word for what a hold ends with: "session", "lease" or "connection"; "" if its time to live is its own.
func (s Servers) Holds() string { return string(s.Facts().Holds) }

// Role returns the part that one of several servers plays, "master" or "leader", and whether each of them has a node of
// its own.
func (s Servers) Role() (name string, nodes bool) {
	if s.Facts().Elects {
		return "leader", false
	}
	return s.Facts().Role, true
}

// Leads returns what readers call the server that plays the role: MongoDB's master is its primary.
func (s Servers) Leads() string {
	role, _ := s.Role()
	return cmp.Or(s.Facts().Leads, role)
}

var serverName = regexp.MustCompile("^(" + strings.Join(nodePrefixes(), "|") + ")-[0-9]+$")

func nodePrefixes() (prefixes []string) {
	for _, k := range all.Kinds() {
		prefixes = append(append(prefixes, k.Facts().Node), k.Facts().Beside...)
	}
	return prefixes
}

func describeKinds(b *bytes.Buffer) {
	b.WriteString("\n## The kinds of servers\n\nThe tables above mark fields that only some backends support: " +
		"\"Only for …\".\n\n" +
		"| `kind` | Backend | Nodes | Roles | What is simulated |\n|---|---|---|---|---|\n")
	for _, k := range all.Kinds() {
		f := k.Facts()
		nodes, role := "`"+f.Node+"-1`", ""
		if f.Role != "" {
			nodes, role = nodes+", …", "`"+f.Role+"`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.Name, f.Title, nodes, role, f.Doc)
	}
}
