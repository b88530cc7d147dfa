package locks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/locks"
)

// An algorithm that nobody lists is dead code that looks alive. The source is read in-process, so that the test's
// cached result depends on it.
func TestEveryAlgorithmIsInTheCatalogue(t *testing.T) {
	made, listed := map[string]string{}, map[string]bool{}
	for _, file := range sources(t) {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && makesAlgorithm(f) {
				made[f.Name.Name] = file
			}
			if v, ok := d.(*ast.GenDecl); ok && v.Tok == token.VAR && v.Specs[0].(*ast.ValueSpec).Names[0].Name == "catalogue" {
				ast.Inspect(v, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						listed[call.Fun.(*ast.Ident).Name] = true
					}
					return true
				})
			}
		}
	}
	for name, file := range made {
		require.True(t, listed[name], "%s makes an Algorithm with %s, which the catalogue does not list", file, name)
	}
	require.Len(t, locks.Catalogue().All(), len(made))
}

// identities are what a release may name the holder by.
var identities = []string{"none", "constant", "value", "owner", "session", "lease", "connection", "transaction", "own node"}

func TestEveryLockHasAFileOfItsName(t *testing.T) {
	files := sources(t)
	for _, a := range locks.Catalogue().All() {
		require.Contains(t, files, strings.ReplaceAll(a.Name, "-", "_")+".go")
		require.NotEmpty(t, a.Title, a.Name)
		require.NotEmpty(t, a.Source, a.Name)
		require.Contains(t, identities, a.Identity, a.Name)
	}
}

func TestFindKnowsEveryNameOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range locks.Catalogue().All() {
		found, ok := locks.Catalogue().Find(a.Name)
		require.True(t, ok)
		require.Equal(t, a.Title, found.Title)
		require.False(t, seen[a.Name], "%s twice", a.Name)
		seen[a.Name] = true
	}
	_, ok := locks.Catalogue().Find("set-nx-luau")
	require.False(t, ok)
}

func TestSetWithMoreLocksLeavesTheOriginalAsItIs(t *testing.T) {
	before := locks.Catalogue().All()
	one := locks.Catalogue().With(locks.Algorithm{Name: "own", Title: "one"}, locks.Algorithm{Name: "setnx", Title: "another"})
	two := one.With(locks.Algorithm{Name: "own", Title: "two"})
	titleOf := func(s locks.Set, name string) string { a, _ := s.Find(name); return a.Title }
	require.Equal(t, "one", titleOf(one, "own"))
	require.Equal(t, "two", titleOf(two, "own"))
	require.Equal(t, "another", titleOf(two, "setnx"))
	require.Len(t, two.All(), len(before)+1)
	_, ok := locks.Set{}.Find("own")
	require.False(t, ok)
	one.All()[0].Title = "changed"
	require.NotEqual(t, "changed", one.All()[0].Title)
	require.Equal(t, titleOf(locks.Set{}, "setnx"), before[1].Title)
	require.Len(t, locks.Set{}.All(), len(before))
}

func sources(t *testing.T) []string {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			files = append(files, e.Name())
		}
	}
	return files
}

func makesAlgorithm(f *ast.FuncDecl) bool {
	results := f.Type.Results
	if f.Recv != nil || f.Type.Params.NumFields() > 0 || results.NumFields() != 1 {
		return false
	}
	name, ok := results.List[0].Type.(*ast.Ident)
	return ok && name.Name == "Algorithm"
}

// everyLock runs a subtest for each lock of the catalogue that the fake world's Redis servers can carry, but the named
// ones, in a world of five servers. The others are tried on simulated servers, by package harness.
func everyLock(t *testing.T, test func(t *testing.T, w *world, a locks.Algorithm), except ...string) {
	for _, a := range locks.Catalogue().All() {
		if a.Servers != "" || a.Version != "" || a.Identity == "owner" || slices.Contains(except, a.Name) {
			continue
		}
		t.Run(a.Name, func(t *testing.T) { test(t, newWorld(5), a) })
	}
}

func TestEveryLockIsTakenAndGivenBack(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		done := false
		w.start("a", func(p locks.Process) {
			l := mustBuild(t, p, a.Name, locks.Options{Key: "the-lock"})
			lease, err := l.Acquire(locks.Try)
			require.NoError(t, err)
			_, held := w.servers[0].holds("the-lock")
			require.True(t, held)

			err = l.Release(lease)
			if a.Name == "jedis-sample" {
				require.ErrorIs(t, err, locks.ErrNotHeld)
			} else {
				require.NoError(t, err)
			}
			for i, s := range w.servers {
				_, held := s.holds("the-lock")
				require.False(t, held, "server %d", i)
			}
			done = true
		})
		w.run(time.Hour)
		require.True(t, done)
	})
}

func TestEveryLeaseSaysWhatItsAlgorithmDeclares(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		var lease locks.Lease
		w.start("a", func(p locks.Process) {
			var err error
			lease, err = mustBuild(t, p, a.Name, locks.Options{}).Acquire(locks.Try)
			require.NoError(t, err)
		})
		w.run(time.Second)
		require.Equal(t, a.Token, lease.Token != 0)
		require.Equal(t, a.Deadline, lease.Deadline.On)
		require.Equal(t, a.Deadline != locks.NoClock, lease.Deadline.Stated())
		require.Equal(t, a.Name == "redlock-extend", lease.Lost != nil, "the others are told of nothing")
		switch a.Identity {
		case "none":
			require.Empty(t, lease.Value)
		case "constant":
			require.Equal(t, "1", lease.Value)
		default:
			require.True(t, strings.HasPrefix(lease.Value, "value-"), lease.Value)
		}
		asked := 0
		for _, s := range w.servers {
			if e, ok := s.keys["lock"]; ok {
				asked++
				require.Equal(t, a.Lease, e.expires != locks.Forever)
			}
		}
		require.Equal(t, map[locks.Authority]int{locks.OneNode: 1, locks.Replicated: 1, locks.Majority: 5}[a.Authority], asked)
	})
}

// Faults and traces name a script by what the algorithm declares, so it must declare what it sends, and no more.
func TestEveryLockDeclaresTheScriptsItSends(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		w.start("a", func(p locks.Process) {
			l := mustBuild(t, p, a.Name, locks.Options{Renew: time.Second})
			lease, err := l.Acquire(locks.Try)
			require.NoError(t, err)
			p.Sleep(1500 * time.Millisecond)
			_ = l.Release(lease)
		})
		w.run(time.Hour)
		sent := map[string]bool{}
		for _, q := range w.asked {
			if q.name() == "EVAL" {
				sent[q.args[1]] = true
			}
		}
		declared := map[string]bool{}
		for _, s := range a.Scripts {
			declared[s.Body] = true
			require.Contains(t, []string{"acquire", "renew", "release"}, s.Name)
		}
		require.Equal(t, declared, sent)
	})
}

// holdFor makes process h hold the named lock for d.
func holdFor(t *testing.T, w *world, name string, d time.Duration) {
	w.start("h", func(p locks.Process) {
		l := mustBuild(t, p, name, locks.Options{TTL: time.Minute})
		lease, err := l.Acquire(locks.Try)
		require.NoError(t, err)
		p.Sleep(d)
		_ = l.Release(lease)
	})
}

// attempt makes process b ask for the named lock after a second, and returns how that ended and how long it took.
type attempt struct {
	err     error
	took    time.Duration
	ended   bool
	process *process
}

func ask(t *testing.T, w *world, name string, o locks.Options, wait time.Duration) *attempt {
	r := &attempt{}
	r.process = w.start("b", func(p locks.Process) {
		p.Wait(time.Second)
		l := mustBuild(t, p, name, o)
		start := p.Monotonic()
		_, r.err = l.Acquire(wait)
		r.took, r.ended = p.Monotonic().Sub(start), true
	})
	return r
}

func TestSecondProcessIsRefusedWhileTheFirstHolds(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		holdFor(t, w, a.Name, 5*time.Second)
		b := ask(t, w, a.Name, locks.Options{}, locks.Try)
		w.run(time.Minute)
		require.True(t, b.ended)
		require.ErrorIs(t, b.err, locks.ErrNotAcquired)
	}, "set-without-nx")
}

func TestTryReturnsAtOnce(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		holdFor(t, w, a.Name, 5*time.Second)
		b := ask(t, w, a.Name, locks.Options{}, locks.Try)
		w.run(time.Minute)
		require.True(t, b.ended)
		require.Zero(t, b.process.slept)
		require.LessOrEqual(t, b.took, 2*5*2*latency, "asked and released on five servers, one after another")
	})
}

func TestAcquireGivesUpInTime(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		holdFor(t, w, a.Name, 30*time.Second)
		retry := locks.Retry{Delay: 70 * time.Millisecond, Tries: 1_000}
		b := ask(t, w, a.Name, locks.Options{Retry: retry}, time.Second)
		w.run(time.Minute)
		require.ErrorIs(t, b.err, locks.ErrNotAcquired)
		require.GreaterOrEqual(t, b.took, time.Second)
		require.LessOrEqual(t, b.took, time.Second+2*5*2*latency, "the last try begins in time")
	}, "set-without-nx")
}

func TestAcquireGetsTheLockThatIsReleasedWhileItWaits(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		holdFor(t, w, a.Name, 5*time.Second)
		o := locks.Options{Retry: locks.Retry{Delay: 100 * time.Millisecond, Tries: 10_000}}
		b := ask(t, w, a.Name, o, locks.Forever)
		w.run(time.Minute)
		require.True(t, b.ended)
		require.NoError(t, b.err)
		if a.Name == "set-without-nx" {
			require.Less(t, b.took, time.Second)
			return
		}
		require.InDelta(t, 4*time.Second, b.took, float64(200*time.Millisecond))
	})
}

func TestTriesAreCounted(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		holdFor(t, w, a.Name, 30*time.Second)
		o := locks.Options{Retry: locks.Retry{Delay: 100 * time.Millisecond, Tries: 4}}
		b := ask(t, w, a.Name, o, locks.Forever)
		w.run(time.Minute)
		require.ErrorIs(t, b.err, locks.ErrNotAcquired)
		asks := 0
		for _, q := range w.asked {
			if q.process == "b" && q.server == 0 && slices.Contains(askingCommands(a), q.name()) && !isRelease(q) {
				asks++
			}
		}
		require.Equal(t, 4, asks)
	}, "set-without-nx")
}

func askingCommands(a locks.Algorithm) []string {
	if a.Token {
		return []string{"EVAL"}
	}
	return []string{"SET", "SETNX", "EXISTS"}
}

func isRelease(q request) bool {
	return q.name() == "DEL" || q.name() == "EVAL" && strings.Contains(q.args[1], `"del"`)
}

// After a lost reply the server believes that the client has the lock, but the client does not. No lock may
// treat it as success, and none may report a certain failure.
func TestLostReplyIsNeitherYesNorNo(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		for _, s := range w.servers {
			s.fault = func(q request) fault { return fault{loseReply: !isRelease(q)} }
		}
		b := ask(t, w, a.Name, locks.Options{Timeout: 20 * time.Millisecond}, locks.Try)
		w.run(time.Minute)
		require.True(t, b.ended)
		require.Error(t, b.err)
		if a.Name == "redlock-py" {
			require.ErrorIs(t, b.err, locks.ErrNotAcquired, "the library forgets what went wrong")
			return
		}
		require.ErrorIs(t, b.err, locks.ErrUnknown)
	})
}

func TestRequestThatNeverLeftIsCertainlyNotDone(t *testing.T) {
	everyLock(t, func(t *testing.T, w *world, a locks.Algorithm) {
		for _, s := range w.servers {
			s.fault = func(request) fault { return fault{refuse: true} }
		}
		b := ask(t, w, a.Name, locks.Options{}, locks.Try)
		w.run(time.Minute)
		require.True(t, b.ended)
		require.NotErrorIs(t, b.err, locks.ErrUnknown)
		if a.Name != "redlock-py" {
			require.ErrorIs(t, b.err, locks.ErrNotDone)
			require.ErrorContains(t, b.err, "redis ", "it says what failed")
		}
	})
}
