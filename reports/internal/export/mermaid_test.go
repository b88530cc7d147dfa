package export_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/export"
	"github.com/locksim/locksim/reports/internal/timeline"
)

// The lines that a diagram may consist of. Text is letters, digits, harmless signs, entities and line breaks.
var diagramLine = func() *regexp.Regexp {
	const name = `(?:[\p{L}\p{Nd} .()/_+=!?·—–…-]|#\d+;)*`
	const text = `(?:[\p{L}\p{Nd} .()/_+=!?·—–…,:'-]|#\d+;|<br/>)*`
	return regexp.MustCompile(`^(?:sequenceDiagram|    (?:accTitle: ` + text + `|accDescr: ` + text + `|participant p\d+ as ` + name +
		`|Note over p\d+(?:,p\d+)?: ` + text + `|p\d+(?:->>|-->>|-x|--x|-\)|--\))p\d+: ` + text + `|rect rgba\(230, 159, 0, 0\.25\)|end))$`)
}()

func requireDiagram(t *testing.T, text string) {
	t.Helper()
	require.Less(t, len(text), 50_000, "Mermaid takes no more")
	open := 0
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		require.Regexp(t, diagramLine, line)
		switch {
		case strings.HasPrefix(line, "    rect "):
			open++
		case line == "    end":
			open--
			require.GreaterOrEqual(t, open, 0)
		}
	}
	require.Zero(t, open, "every frame is closed")
}

func TestADiagramIsOneThatMermaidTakes(t *testing.T) {
	everySchedule(t, func(t *testing.T, s *timeline.Schedule) { requireDiagram(t, written(t, export.Mermaid, s)) })
}

func TestADiagramTellsTheNumberedMoments(t *testing.T) {
	everySchedule(t, func(t *testing.T, s *timeline.Schedule) {
		text := written(t, export.Mermaid, s)
		for _, m := range s.Runs[0].Moments {
			if m.Number > 0 {
				require.Equal(t, 1, strings.Count(text, fmt.Sprintf(": (%d) ", m.Number)), "%d", m.Number)
			}
		}
	})
}

func TestADiagramHasTheMessagesThatMatter(t *testing.T) {
	s := load(t, fencing)
	for i := range s.Runs[0].Messages {
		s.Runs[0].Messages[i].Matters = false
	}
	require.NotContains(t, written(t, export.Mermaid, s), ">>")
	first := &s.Runs[0].Messages[0]
	first.Matters = true
	require.Contains(t, written(t, export.Mermaid, s), "    p0->>p2: 1.654ms EVAL (acquire)\n")
	first.Received = 1<<63 - 1
	require.Contains(t, written(t, export.Mermaid, s), "    p0-xp2: 1.12ms EVAL (acquire): never arrives\n")
}

func TestADiagramOfVeryMuchIsCutAndSaysSo(t *testing.T) {
	s := load(t, fencing)
	r := &s.Runs[0]
	one := r.Messages[0]
	for i := range 1000 {
		one.ID, one.Matters = uint64(10_000+i), true
		one.Sent += 1000
		one.Received += 1000
		r.Messages = append(r.Messages, one)
	}
	text := written(t, export.Mermaid, s)
	requireDiagram(t, text)
	require.Contains(t, text, "more messages are left out")
	require.Equal(t, 60, strings.Count(text, ">>"))
}

func TestADiagramTakesHostileText(t *testing.T) {
	for _, text := range []string{
		"\nend\nparticipant evil", "; participant evil", "#quot;#35;", "%%{init: {}}%%", "<script>alert(1)</script>",
		"style x:y#1;", "classDef", "$$x$$", "\x1b[31m\u202e", "\r\nNote over p0: evil", "wrap:", "a->>b: evil", "`[x](y)`",
		"{evil}", "as evil", "@{}", `\n"'`,
	} {
		written := written(t, export.Mermaid, hostile(t, text))
		requireDiagram(t, written)
		require.NotContains(t, written, "style", "Mermaid takes away what ends an entity behind it")
		require.NotContains(t, written, "classDef", "likewise")
	}
	long := written(t, export.Mermaid, hostile(t, strings.Repeat("€", 2_000)))
	require.Less(t, len(long), 50_000)
}
