package serve_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/real"
)

// jars are ZooKeeper's client for Java and the recipes that come with it, as Debian installs them.
var jars = strings.Join([]string{
	"/usr/share/java/zookeeper.jar", "/usr/share/java/zookeeper-jute.jar", "/usr/share/java/zookeeper-recipes-lock.jar",
	"/usr/share/java/slf4j-nop.jar",
}, ":")

// TestTheClientForJavaSeesWhatItSeesOfTheRealServer compiles a program that uses ZooKeeper's own client, unmodified: nodes,
// transactions, watches of all kinds, access control, a connection that is lost and found again, a session that ends, and the
// lock recipe. What it prints of both servers must be the same.
func TestTheClientForJavaSeesWhatItSeesOfTheRealServer(t *testing.T) {
	long.Only(t)
	t.Parallel()
	for _, jar := range strings.Split(jars, ":") {
		if _, err := os.Stat(jar); err != nil {
			t.Skip(&real.Missing{Program: jar, Package: "zookeeper"})
		}
	}
	java, err := exec.LookPath("java")
	if _, missing := exec.LookPath("javac"); err != nil || missing != nil {
		t.Skip(&real.Missing{Program: "javac", Package: "default-jdk-headless"})
	}
	sides := bothZK(t, 1, 500*time.Millisecond)
	classes := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "javac", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-proc:none",
		"-d", classes, "-cp", jars, "testdata/Conversation.java").CombinedOutput()
	require.NoError(t, err, "%s", out)
	seen := converse(t, sides, java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jars+":"+classes,
		"Conversation")
	require.Contains(t, seen[0], "locker 2 has released")
	require.Equal(t, seen[0], seen[1])
}

// TestKazooSeesWhatItSeesOfTheRealServer runs a program that uses kazoo, for Python: what the one for Java does, and locks,
// semaphores, elections and caches of kazoo's own.
func TestKazooSeesWhatItSeesOfTheRealServer(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "kazoo")
	program, err := filepath.Abs("testdata/conversation.py")
	require.NoError(t, err)
	seen := converse(t, bothZK(t, 1, 500*time.Millisecond), python, program)
	require.Contains(t, seen[0], "elected [1]")
	require.Equal(t, seen[0], seen[1])
}

// pythonWith returns the first Python that has a package: that of the path need not be the one that packages are installed for.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	pythons := []string{"python3", "/usr/bin/python3"}
	has := slices.IndexFunc(pythons, func(python string) bool {
		return exec.CommandContext(t.Context(), python, "-c", "import "+module).Run() == nil
	})
	if has < 0 {
		t.Skip(&real.Missing{Program: module, Package: "python3-" + module})
	}
	return pythons[has]
}

// converse runs a program that talks to both sides one after the other, each by its own address and by a link, and returns
// what it prints of each. It asks for the link to be cut and mended, and waits until that is done.
func converse(t *testing.T, sides []*zkSide, command ...string) []string {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	var links []*real.Link
	for _, s := range sides {
		link, err := h.Link(real.LinkConfig{Server: s.addresses[0]})
		require.NoError(t, err)
		links, command = append(links, link), append(command, s.addresses[0], link.Address)
	}
	stdin, in, err := os.Pipe()
	require.NoError(t, err)
	out, stdout, err := os.Pipe()
	require.NoError(t, err)
	program, err := h.Start(real.Program{Name: "client", Args: command, In: stdin, Out: stdout})
	require.NoError(t, err)
	require.NoError(t, errors.Join(stdin.Close(), stdout.Close())) // they are the program's now
	defer time.AfterFunc(time.Minute, func() { _ = program.Kill() }).Stop()
	var seen []string
	var mend func()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "==") {
			seen = append(seen, "")
			continue
		}
		at := len(seen) - 1
		seen[at] += line + "\n"
		switch line {
		case "cut":
			mend = links[at].Refuse()
		case "mend":
			mend()
		default:
			continue
		}
		_, err := io.WriteString(in, "\n")
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(in.Close(), out.Close()))
	require.Len(t, seen, len(sides), "%s", program.Log())
	return seen
}
