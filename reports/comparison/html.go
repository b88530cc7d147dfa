package comparison

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/locksim/locksim/internal/search/compare"
	"github.com/locksim/locksim/reports/internal/fill"
	"github.com/locksim/locksim/reports/internal/svg"
)

//go:embed assets
var assets embed.FS

// HTML writes the report as one page that needs no network: whatever it says can be read without its script, which
// filters and goes from cell to cell. Names and sentences are plain strings, for the template to escape; only what this
// package made itself is trusted.
func HTML(w io.Writer, c *compare.Comparison, l Links) error {
	return fill.Page(w, asset("page.html"), newPage(newBoard(c), l))
}

func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("comparison: an asset is missing: " + err.Error())
	}
	return string(text)
}

// page is what the template is filled with.
type page struct {
	b     *board
	links Links

	Hash   string // of the script: the page lets no other one run
	Style  fill.Raw
	Script fill.Raw

	Title, Measured, Interrupted       string
	Modes                              []pageMode
	Advice                             []pageAdvice
	Kinds, Faults, Fencing, Properties []string // to filter by
	Legend, Ramp                       []pageKey
	Overview, Costs                    pageTable
	Matrices                           []pageTable
	Locks                              []pageLock
	Meanings                           []meaning
	Libraries                          []string // which there are, and what of them is real
	Reading, Threats, Settings         []string
}

func newPage(b *board, l Links) *page {
	script := asset("page.js")
	sum := sha256.Sum256([]byte(script))
	p := &page{
		b: b, links: l,
		Hash:  "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
		Style: fill.Raw(palette() + asset("page.css")), Script: fill.Raw(script),
		Title: b.title(), Measured: b.measured(), Interrupted: b.interrupted(),
		Kinds: b.kinds(), Faults: b.Faults, Fencing: b.Fencing, Properties: b.properties,
		Meanings: b.meanings(), Libraries: b.libraries(), Reading: b.reading(), Threats: b.threats(), Settings: b.settings(),
	}
	for _, m := range b.modes() {
		p.Modes = append(p.Modes, m.page())
	}
	for _, a := range b.Advice {
		p.Advice = append(p.Advice, p.advice(&a))
	}
	p.Legend, p.Ramp = legend(), rampKeys()
	p.Overview, p.Costs = p.table(b.overview(), "overview"), p.table(b.costs(), "costs")
	for _, fencing := range b.Fencing {
		t := p.table(b.matrixOf(fencing), "matrix")
		t.Mode, t.Filter = fencing, true
		p.Matrices = append(p.Matrices, t)
	}
	p.addLocks()
	return p
}

// palette is the style sheet's part that package svg knows: one set of colours for all pictures.
func palette() string {
	var b strings.Builder
	b.WriteString(":root {\n")
	for _, k := range []svg.Ink{
		svg.Paper, svg.Shade, svg.Words, svg.Quiet, svg.Rule, svg.Solid, svg.Amber, svg.Red, svg.Green, svg.GreenWash,
		link,
	} {
		fmt.Fprintf(&b, "  --%s: light-dark(%s, %s);\n", k.Class, k.Light, k.Dark)
	}
	b.WriteString("}\n")
	for _, ramp := range [][]shadeInk{reds[:], ambers[:]} {
		for _, k := range ramp {
			fmt.Fprintf(&b, ".%s { background: light-dark(%s, %s); color: light-dark(%s, %s); }\n",
				k.wash.Class, k.wash.Light, k.wash.Dark, k.words.Light, k.words.Dark)
		}
	}
	return b.String()
}

// link is what can be followed, and what has the focus.
var link = svg.Ink{Class: "link", Light: "#0b57d0", Dark: "#7db0ff"}
