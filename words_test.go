package locksim_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// avoided is a word that ARCHITECTURE.md lists as one to avoid.
type avoided struct {
	first   string // its first word, which is looked for first: that is faster
	pattern *regexp.Regexp
	write   string // what to write instead
	shown   bool   // only text that is shown or published must avoid it, not comments
}

// avoidedWords reads the table of words to avoid, and returns it with the rest of the document.
func avoidedWords(t *testing.T) (list []avoided, rest string) {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	before, table, found := strings.Cut(string(text), "### Words to avoid\n")
	require.True(t, found)
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 || strings.TrimSpace(cells[0]) == "word" {
			continue
		}
		for word := range strings.SplitSeq(strings.TrimSpace(cells[0]), ", ") {
			pattern := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s+(?://\s+)?`) + `\b(?:[^:]|$)`)
			list = append(list, avoided{strings.Fields(word)[0], pattern, cells[1], strings.TrimSpace(cells[2]) == "shown text"})
		}
	}
	require.NotEmpty(t, list)
	return list, before
}

// find returns the words of a text that are to be avoided in it, with what to write instead.
func find(list []avoided, text string, shown bool) (found []string) {
	lower := strings.ToLower(text)
	for _, w := range list {
		if !strings.Contains(lower, w.first) {
			continue
		}
		if at := w.pattern.FindStringIndex(text); at != nil && (shown || !w.shown) {
			line := 1 + strings.Count(text[:at[0]], "\n")
			found = append(found, strings.Join([]string{text[at[0]:at[1]], "in line", strings.TrimSpace(lineOf(text, line)), "- write:", w.write}, " "))
		}
	}
	return found
}

func lineOf(text string, n int) string { return strings.Split(text, "\n")[n-1] }

// TestWordsToAvoidAreAvoided reads all source, documents, scenarios, golden files, and what build servers run.
func TestWordsToAvoidAreAvoided(t *testing.T) {
	list, rest := avoidedWords(t)
	require.Empty(t, find(list, rest, true), "ARCHITECTURE.md")
	shown := []string{".md", ".yaml", ".yml", ".golden", ".txt", ".svg", ".html"}
	source := []string{".go", ".js", ".css"}
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch ext := path.Ext(name); {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && !slices.Contains([]string{".", ".ci", ".github"}, name):
			return fs.SkipDir
		case d.IsDir(), name == "ARCHITECTURE.md", name == "LICENSE", !slices.Contains(source, ext) && !slices.Contains(shown, ext) && path.Dir(name) != ".ci":
			return nil
		default:
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for _, found := range find(list, string(text), !slices.Contains(source, ext)) {
				t.Errorf("%s: %s", name, found)
			}
			return nil
		}
	}))
}

// TestAvoidedWordsAreFound plants words, so that the test above can fail.
func TestAvoidedWordsAreFound(t *testing.T) {
	list := []avoided{
		{"for", regexp.MustCompile(`(?i)\bfor\s+(?://\s+)?ages\b`), "long", false},
		{"henceforth", regexp.MustCompile(`(?i)\bhenceforth\b`), "from then on", true},
	}
	require.Len(t, find(list, "it waits for\n// ages", false), 1)
	require.Empty(t, find(list, "a comment says henceforth", false))
	require.Len(t, find(list, "Henceforth\nit waits for ages.", true), 2)
	require.Empty(t, find(list, "it forages", true))
}
