package main

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/scenarios"
)

func completionCommand() command {
	return command{name: "completion", summary: "print what lets a shell complete commands", usage: completionUsage, run: runCompletion,
		names: shellNames, plays: asLock}
}

const completionUsage = `usage: locksim completion bash|zsh|fish|powershell

Prints a script that lets a shell complete commands, flags, their values, and the names of scenarios, locks and faults:

  bash         source <(locksim completion bash)                                in ~/.bashrc
  zsh          source <(locksim completion zsh)                                 in ~/.zshrc, after compinit
  fish         locksim completion fish | source                                 in ~/.config/fish/config.fish
  powershell   locksim completion powershell | Out-String | Invoke-Expression   in $PROFILE

The script asks locksim completion next --word WORD -- LINE..., which prints what may stand in place of WORD, one a line with
its description behind a tab, and :files where a file may stand.

  --word WORD        with next: what is typed of the word so far

Exit codes: 0 printed, 2 wrong usage.
`

var (
	//go:embed completion/locksim.bash
	bashScript []byte
	//go:embed completion/locksim.zsh
	zshScript []byte
	//go:embed completion/locksim.fish
	fishScript []byte
	//go:embed completion/locksim.ps1
	powershellScript []byte
)

func shellNames() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func runCompletion(c *call) int {
	var word string
	fs := newFlags("completion")
	fs.StringVar(&word, "word", "", "")
	names, err := c.parse(fs)
	switch {
	case errors.Is(err, errHelp):
		return c.help("completion")
	case err != nil:
	case len(names) != 1:
		err = errors.New("want the name of one shell: " + strings.Join(shellNames(), ", "))
	case names[0] == "next" && len(c.argv) == 0:
		err = errors.New("next: no line follows --")
	case names[0] == "next":
		for _, each := range following(c.argv[1:], word) {
			fmt.Fprintln(c.stdout, each)
		}
		return exitOK
	case c.argv != nil:
		err = errors.New("a line after -- is completed by next alone")
	}
	if err != nil {
		return c.wrong(err)
	}
	scripts := map[string][]byte{"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
	script, ok := scripts[names[0]]
	if !ok {
		return c.fail("completion: there is no script for %q%s", names[0], didYouMean(names[0], shellNames(), "help completion"))
	}
	return c.print(script)
}

// files says that a file may stand there.
const files = ":files"

// following lists what may stand in place of a word, behind the other ones of a line.
func following(line []string, word string) []string {
	if word == "=" { // as bash cuts --flag=value
		line, word = append(slices.Clone(line), word), ""
	}
	if len(line) == 0 {
		var list []string
		for _, cmd := range commands() {
			list = appendWord(list, cmd.name, cmd.summary, word)
		}
		return list
	}
	i := slices.IndexFunc(commands(), func(cmd command) bool { return cmd.name == line[0] })
	if i < 0 || slices.Contains(line, "--") { // behind it stand the words of another program
		return []string{files}
	}
	m, line := manualOf(&commands()[i]), line[1:]
	before := ""
	if name, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "-") {
		line, word, before = append(slices.Clone(line), name), value, name+"="
	}
	line = slices.DeleteFunc(slices.Clone(line), func(w string) bool { return w == "=" })
	if len(line) > 0 {
		if f := m.flag(line[len(line)-1]); f != nil && f.Argument != "" {
			return f.values(word, before)
		}
	}
	if strings.HasPrefix(word, "-") {
		var list []string
		for _, f := range m.Flags {
			list = appendWord(list, f.Name, f.Help, word)
		}
		return list
	}
	var list []string
	if names := commands()[i].names; names != nil {
		for _, name := range names() {
			list = appendWord(list, name, "", word)
		}
	}
	return append(list, files)
}

// appendWord appends a word, with its description, if it begins as was typed.
func appendWord(list []string, word, description, typed string) []string {
	if !strings.HasPrefix(word, typed) {
		return list
	}
	if description != "" {
		word += "\t" + description
	}
	return append(list, word)
}

func (m *manual) flag(name string) *flagManual {
	if name = strings.TrimLeft(name, "-"); name == "" {
		return nil
	}
	if i := slices.IndexFunc(m.Flags, func(f flagManual) bool { return f.Name == dashed(name) }); i >= 0 {
		return &m.Flags[i]
	}
	return nil
}

// values lists what may stand behind a flag; before is repeated before each.
func (f *flagManual) values(typed, before string) []string {
	if f.Values == nil {
		return []string{files}
	}
	if i := strings.LastIndexByte(typed, ','); f.Several && i >= 0 {
		before, typed = before+typed[:i+1], typed[i+1:]
	}
	if name, ok := strings.CutPrefix(typed, "-"); f.Several && ok {
		before, typed = before+"-", name
	}
	var list []string
	for _, value := range f.Values {
		if strings.HasPrefix(value, typed) {
			list = append(list, before+value)
		}
	}
	return list
}

// allLocks are the locks and the libraries.
func allLocks() []string {
	list := lockNames()
	for _, c := range clients.Catalogue() {
		list = append(list, c.Lock.Name)
	}
	return list
}

// locksAndScenarios are what is searched.
func locksAndScenarios() []string { return slices.Concat(allLocks(), scenarios.Names()) }
