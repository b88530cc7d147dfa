// Command locksim simulates distributed locks under faults, and reports which guarantees break.
//
//	locksim run fencing-33-34
//	locksim list
//	locksim help
//
// It exits with 0 if everything is as expected, 1 if a verdict differs from the expected one, 2 for wrong usage, an invalid
// scenario, a panic of a native lock or a guest program that cannot set up its lock, 3 if a run was inconclusive, and 130
// after an interrupt.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/harness"
	"github.com/locksim/locksim/internal/replay"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// The exit codes.
const (
	exitOK           = 0
	exitDiffers      = 1
	exitUsage        = 2
	exitInconclusive = 3
	exitInterrupted  = 130 // as a shell reports a command that an interrupt ended
)

// sweeps is the default of GOGC. The garbage of one run is small, and collecting it as often as Go does by default would cost
// a fifth of the time.
const sweeps = 800

func main() {
	if replay.IsClient() {
		os.Exit(playClient())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(sweeps)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program in the environment that it was started in. The first interrupt, or request to terminate, ends it
// gracefully, the second at once.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return runIn(ctx, environment(), args, stdout, stderr)
}

// nextInterrupt returns a context that is cancelled by the first interrupt that was not handled yet: the second one, if the
// first has ended the previous work. The one after it ends the program at once.
func (c *call) nextInterrupt(heeded bool) (ctx context.Context, stop func()) {
	if !heeded {
		return c.ctx, func() {}
	}
	ctx, stop = signal.NotifyContext(context.WithoutCancel(c.ctx), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// command is one subcommand.
type command struct {
	name    string
	summary string // one line
	usage   string // the help text
	run     func(*call) int
	ends    bool // it has work to do after an interrupt, and ends by itself
	plays   plays
	records bool            // it writes a ledger of parts, and tells what merged ones come to
	names   func() []string // that its arguments may be, for completion; nil if they are others
}

// plays says whether a subcommand plays programs of any language, and when what follows "--" is one; otherwise it is names.
type plays uint8

const (
	noProgram  plays = iota
	inScenario       // what follows is a program if a scenario is named before it
	asLock           // what follows is a program
)

func commands() []command {
	return []command{
		runCommand(), playCommand(), listCommand(), showCommand(), checkCommand(), adviseCommand(), compareCommand(), fuzzCommand(), exploreCommand(), minimizeCommand(),
		mergeCommand(), clusterCommand(), measureCommand(), campaignCommand(), judgeCommand(), liveCommand(), replayCommand(), serveCommand(),
		completionCommand(), versionCommand(), helpCommand(),
	}
}

// call is one use of a subcommand.
type call struct {
	ctx    context.Context
	name   string // of the subcommand
	args   []string
	argv   []string // what stands behind "--": a program and its arguments, or names
	plays  plays    // of the subcommand
	real   bool     // the program is played on real servers
	env    env
	stdout io.Writer
	stderr io.Writer
	locks  locks.Set // the catalogue, and the guest programs that were built
	told   []string  // guest programs for which reality was printed
	files  *unfinished
	merged *mergedParts // whose result is told, rather than that of new runs; nil usually
}

// runIn is the program, with its environment and output as arguments.
func runIn(ctx context.Context, e env, args []string, stdout, stderr io.Writer) int {
	c := &call{ctx: ctx, env: e, stdout: stdout, stderr: stderr, files: &unfinished{}}
	if len(args) == 0 {
		fmt.Fprint(stderr, overview())
		return exitUsage
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	c.name, c.args = name, args[1:]
	if i := slices.Index(c.args, "--"); i >= 0 {
		c.args, c.argv = c.args[:i], c.args[i+1:]
	}
	for _, cmd := range commands() {
		c.plays = cmd.plays
		switch code := 0; {
		case cmd.name != name:
		case c.argv != nil && cmd.plays == noProgram && len(c.argv) > 1 && !strings.HasPrefix(c.argv[0], "-"):
			return c.fail("%s: it plays no program, but -- is followed by %s", name, asWord(strings.Join(c.argv, " ")))
		case c.argv != nil && len(c.argv) == 0:
			return c.fail("%s: no program follows --; want a command, such as -- node client.js", name)
		case cmd.ends:
			c.stdout = &outlet{Writer: stdout}
			return c.delivered(cmd.run(c))
		default:
			if !c.promptly(func() { code = cmd.run(c) }) {
				return exitInterrupted
			}
			return c.delivered(code)
		}
	}
	return c.unknown(name)
}

func commandNames() []string {
	var names []string
	for _, cmd := range commands() {
		names = append(names, cmd.name)
	}
	return names
}

// fail prints a usage error on one line.
func (c *call) fail(format string, args ...any) int {
	c.complain("locksim: " + fmt.Sprintf(format, args...))
	return exitUsage
}

// wrong prints a usage error of the subcommand, or that it was interrupted.
func (c *call) wrong(err error) int {
	if c.interrupted(err) {
		return exitInterrupted
	}
	return c.fail("%s: %v", c.name, err)
}

// interrupted reports whether an error only means that the program was interrupted, and prints that. So may the end of a program that
// is played: an interrupt of a terminal reaches it, too.
func (c *call) interrupted(err error) bool {
	var unborn *harness.Unborn
	if c.ctx.Err() == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, harness.ErrInterrupted) && !errors.As(err, &unborn) {
		return false
	}
	fmt.Fprintln(c.stderr, "locksim: interrupted")
	return true
}

// complain prints lines that may quote any text. It escapes quoted text that a build server would take for a command.
func (c *call) complain(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = reports.Visible(shortened(line))
		if commands := strings.TrimLeft(line, " "); strings.HasPrefix(commands, "::") { // as GitHub reads it
			line = strings.Replace(line, "::", `\u003a:`, 1)
		}
		fmt.Fprintln(c.stderr, line)
	}
}

// mostQuoted is how much of a line of a complaint is printed: it may quote a very long argument.
const mostQuoted = 1000

// shortened leaves out the middle of a line that is too long.
func shortened(line string) string {
	left := len(line) - mostQuoted
	if left <= 0 {
		return line
	}
	return fmt.Sprintf("%s … (%d bytes left out) … %s", line[:mostQuoted/2], left, line[len(line)-mostQuoted/2:])
}

// nearest returns the name that was probably meant, regardless of case; "" if none is near.
func nearest(name string, names []string) string {
	if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) }); i >= 0 {
		return names[i]
	}
	return scenarios.Nearest(strings.ToLower(name), names)
}

// didYouMean suggests one of the names, in the version that was asked for where it has versions; if none is near, it says which
// command lists them.
func didYouMean(name string, names []string, see string) string {
	name, version, _ := strings.Cut(name, "@")
	if near := nearest(name, names); near != "" {
		if version != "" && clients.Is(near) {
			near += "@" + version
		}
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; see locksim " + see
}
