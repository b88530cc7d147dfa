package profile

import "strings"

// introduction stands before the tables of the fields. A ~ stands for a backquote.
const introduction = `# The format of profiles

A profile says what happens in a deployment, and how often: ~measure --profile~ reads it.
[odds.md](odds.md) explains what it is for and how its numbers are measured. The tables below are generated from those that the
reader uses; ~profile.schema.json~, which ~locksim show --schema profile~ prints, is the same for editors. An editor completes
and checks a file that begins with this line:

    # yaml-language-server: $schema=profile.schema.json

Every number has a unit. Durations may have days and weeks (~36h~, ~7d~, ~2w~); rates are ~20/s~, ~1000/day~, ~0.5/year~, ~1/90s~ or
~every 7d~, with ~s~, ~min~, ~h~ (or ~second~, ~minute~, ~hour~), ~day~, ~week~, ~month~ and ~year~ (365.2425 days; a month is a twelfth). Nothing has a default: if
the estimate needs a field that is missing, the error names it. ~none~ says that something never happens. Wherever a list is
possible, a single entry may stand without one. The reader reports all errors of a file at once, each with its line and column.
`

// Document returns the documentation of the format, as Markdown.
func Document() []byte {
	return []byte(strings.ReplaceAll(introduction, "~", "`") + string(format.Tables()))
}
