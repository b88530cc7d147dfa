package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

const questionsPage = "../../docs/questions.md"

// questioned is a command of the page of questions, with the exit code that it states.
var questioned = regexp.MustCompile(`(?m)^locksim (.+?)    # exit (\d)(, minutes)?$`)

// toRead is what the page says to read in an answer.
var toRead = regexp.MustCompile("(?:[Rr]ead|[Cc]ompare|line|lines|verdict of|variant)\\s`([^`]+)`")

// filed are the files that the page has its readers save, by how their code block begins.
var filed = map[string]string{"my.yaml": "```yaml\n", "pods.jsonl": "```json\n"}

// TestQuestionsAreAnsweredByTheirCommands runs every third command of the page but those that it says take minutes; with LONG=5 all
// of them.
func TestQuestionsAreAnsweredByTheirCommands(t *testing.T) {
	long.Only(t)
	data, err := os.ReadFile(questionsPage)
	require.NoError(t, err)
	page := string(data)
	heads := regexp.MustCompile(`(?m)^### .+\?$`).FindAllString(page, -1)
	commands := questioned.FindAllStringSubmatch(page, -1)
	require.Len(t, commands, strings.Count(page, "\nlocksim "), "each command states its exit code")
	require.Len(t, heads, strings.Count(page, "\n### "), "each heading of the third level is a question")
	require.Len(t, commands, len(heads), "each question has one command")
	require.GreaterOrEqual(t, len(heads), 25)
	t.Chdir(t.TempDir())
	for file, open := range filed {
		from, to := between(t, page, open, "```")
		require.NoError(t, os.WriteFile(filepath.Join(".", file), []byte(page[from:to]), 0o644))
	}
	for i, c := range commands {
		args := asTyped(c[1])
		if i%long.Every(3, 3) != 0 || c[3] != "" && long.Pick(0, 0, 1) < 5 {
			continue
		}
		want, err := strconv.Atoi(c[2])
		require.NoError(t, err)
		code, stdout, stderr := locksim(t.Context(), args...)
		require.Equal(t, want, code, "locksim %s\n%s%s", c[1], stdout, stderr)
		_, prose, _ := strings.Cut(page, c[0])
		prose, _, _ = strings.Cut(prose, "\n#")
		for _, told := range toRead.FindAllStringSubmatch(prose, -1) {
			for _, part := range strings.Split(told[1], "…") {
				require.Contains(t, stdout, strings.TrimSpace(part), "locksim %s: the page says to read %s", c[1], told[1])
			}
		}
	}
}
