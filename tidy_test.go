package locksim_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// deterministic are the folders, with all that is in them, of the packages in which a run happens: nothing but scenario
// and seed may enter there.
var deterministic = []string{
	"checker", "history", "internal/backend", "internal/harness", "internal/promise", "internal/record", "internal/sim", "internal/workload", "locks", "scenarios", "sim", "trace",
}

// exempt are folders in those, with the reason why they may do more.
var exempt = map[string]string{
	"internal/harness/testdata/guest": "a guest program: its clocks, sockets and randomness are the simulation's",
	"internal/sim/wasm":               "compiled modules are shared by workers and lie in files; runs do not see either",
	"internal/live":                   "real servers live in real time",
}

// forbiddenImports name what brings the outer world in, and what to use instead.
var forbiddenImports = map[string]string{
	"sync":         "one task runs at a time: there is nothing to guard",
	"sync/atomic":  "one task runs at a time: there is nothing to guard",
	"crypto/rand":  "draw from a stream of the seed",
	"math/rand":    "draw from a stream of the seed",
	"hash/maphash": "it is seeded per process: use trace.Digest",
	"os":           "the environment is for cmd alone",
	"context":      "it brings timers and goroutines: use signals",
	"runtime":      "what the runtime does must not be seen",
}

// forbiddenCalls are functions of allowed packages.
var forbiddenCalls = map[string]string{
	"time.Now": "virtual time only", "time.Since": "virtual time only", "time.Until": "virtual time only",
	"time.Sleep": "virtual time only", "time.After": "virtual time only", "time.NewTimer": "virtual time only",
	"time.NewTicker": "virtual time only", "time.AfterFunc": "virtual time only", "time.Tick": "virtual time only",
	"maps.Keys": "in random order: sort it", "maps.Values": "in random order: sort it", "maps.All": "in random order: sort it",
}

// excuse ends a line that is allowed to break a rule; a reason follows it.
const excuse = "//tidy:ok "

// TestDeterministicPackagesLetNothingElseIn reads the source of the deterministic packages, with types, and finds
// what could let something else than scenario and seed into a run.
func TestDeterministicPackagesLetNothingElseIn(t *testing.T) {
	c := newTypeChecker(t)
	for _, folder := range deterministicFolders(t) {
		c.load(folder)
		for _, f := range c.files[folder] {
			for _, finding := range c.untidy(f) {
				t.Error(finding)
			}
		}
	}
}

// deterministicFolders lists the folders of deterministic packages, examples among them: a new backend is one by itself.
func deterministicFolders(t *testing.T) (folders []string) {
	t.Helper()
	for _, root := range deterministic {
		require.NoError(t, fs.WalkDir(os.DirFS("."), root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || !d.IsDir():
				return err
			case exempt[name] != "":
				return fs.SkipDir
			}
			files, err := fs.Glob(os.DirFS(name), "*.go")
			if len(files) > 0 {
				folders = append(folders, name)
			}
			return err
		}))
	}
	require.Contains(t, folders, "internal/backend/redis/servers")
	return folders
}

// TestTidyFindsWhatItForbids plants each offence and expects it to be found, so that the test above can fail.
func TestTidyFindsWhatItForbids(t *testing.T) {
	const source = `package planted
import ("time"; "maps"; "slices"; "sync")
var m = map[int]int{}
var mu sync.Mutex
func f(c chan int) {
	for range m {}
	go f(c)
	select {}
	_ = time.Now()
	x := 1.5
	_ = x
	_ = maps.Keys(m)
	_ = slices.Sorted(maps.Keys(m))
	for range m {} //tidy:ok only to show the excuse
}`
	c := newTypeChecker(t)
	f, err := parser.ParseFile(c.fset, "planted.go", source, parser.ParseComments)
	require.NoError(t, err)
	config := types.Config{Importer: c, Error: func(error) {}}
	_, _ = config.Check("planted", c.fset, []*ast.File{f}, &c.info)
	var found []string
	for _, finding := range c.untidy(f) {
		found = append(found, strings.SplitN(finding, ": ", 3)[1])
	}
	require.Equal(t, []string{
		"import of sync", "channel", "range over a map", "goroutine", "select", "call of time.Now", "floating point",
		"floating point", "call of maps.Keys",
	}, found)
}

// typeChecker checks the module's packages from their source. Of libraries outside the standard one it knows
// nothing, which costs only what their types would tell.
type typeChecker struct {
	t        *testing.T
	fset     *token.FileSet
	standard types.Importer
	packages map[string]*types.Package
	files    map[string][]*ast.File
	info     types.Info
	sorted   map[ast.Node]bool // calls whose result is sorted at once
}

func newTypeChecker(t *testing.T) *typeChecker {
	fset := token.NewFileSet()
	return &typeChecker{
		t: t, fset: fset, standard: importer.ForCompiler(fset, "source", nil),
		packages: make(map[string]*types.Package), files: make(map[string][]*ast.File),
		sorted: make(map[ast.Node]bool),
		info: types.Info{
			Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
			Defs: make(map[*ast.Ident]types.Object),
		},
	}
}

// Import makes the checker an importer for itself.
func (c *typeChecker) Import(name string) (*types.Package, error) {
	if inside, ok := strings.CutPrefix(name, module+"/"); ok {
		return c.load(inside), nil
	}
	if strings.Contains(name, ".") {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		return p, nil
	}
	return c.standard.Import(name)
}

func (c *typeChecker) load(folder string) *types.Package {
	if p := c.packages[folder]; p != nil {
		return p
	}
	entries, err := os.ReadDir(folder)
	require.NoError(c.t, err)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(c.fset, path.Join(folder, name), nil, parser.ParseComments)
		require.NoError(c.t, err)
		c.files[folder] = append(c.files[folder], f)
	}
	config := types.Config{Importer: c, Error: func(error) {}}
	p, _ := config.Check(module+"/"+folder, c.fset, c.files[folder], &c.info)
	c.packages[folder] = p
	return p
}

// untidy lists what a file does that it may not.
func (c *typeChecker) untidy(f *ast.File) []string {
	var findings []string
	excused := make(map[int]bool)
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, excuse) && len(comment.Text) > len(excuse) {
				excused[c.fset.Position(comment.Pos()).Line] = true
			}
		}
	}
	report := func(n ast.Node, what, cure string) {
		if p := c.fset.Position(n.Pos()); !excused[p.Line] {
			findings = append(findings, p.String()+": "+what+": "+cure)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		c.inspect(n, report)
		return true
	})
	return findings
}

func (c *typeChecker) inspect(n ast.Node, report func(n ast.Node, what, cure string)) {
	switch n := n.(type) {
	case *ast.ImportSpec:
		name := strings.Trim(n.Path.Value, `"`)
		if cure, bad := forbiddenImports[name]; bad {
			report(n, "import of "+name, cure)
		}
	case *ast.GoStmt:
		report(n, "goroutine", "start a task")
	case *ast.SelectStmt:
		report(n, "select", "the runtime shuffles its cases: wait for signals")
	case *ast.ChanType:
		report(n, "channel", "use a signal")
	case *ast.RangeStmt:
		if t := c.info.TypeOf(n.X); t != nil {
			if _, isMap := t.Underlying().(*types.Map); isMap {
				report(n, "range over a map", "range over slices.Sorted(maps.Keys(m))")
			}
		}
	case *ast.CallExpr:
		c.noteSorting(n)
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok && !c.sorted[n] {
			if cure, bad := forbiddenCalls[pkg.Name+"."+n.Sel.Name]; bad && c.isPackage(pkg) {
				report(n, "call of "+pkg.Name+"."+n.Sel.Name, cure)
			}
		}
	case *ast.Ident:
		if c.isFloat(n) {
			report(n, "floating point", "architectures differ in the last bit: use integers")
		}
	}
}

// noteSorting recognises slices.Sorted(maps.Keys(m)), which makes a random order a fixed one.
func (c *typeChecker) noteSorting(call *ast.CallExpr) {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(f.Sel.Name, "Sorted") || len(call.Args) == 0 {
		return
	}
	if pkg, ok := f.X.(*ast.Ident); !ok || pkg.Name != "slices" {
		return
	}
	if inner, ok := call.Args[0].(*ast.CallExpr); ok {
		c.sorted[inner.Fun] = true
	}
}

func (c *typeChecker) isPackage(id *ast.Ident) bool {
	_, ok := c.info.Uses[id].(*types.PkgName)
	return ok
}

// isFloat reports whether a name stands for a variable, constant or type of floating point.
func (c *typeChecker) isFloat(id *ast.Ident) bool {
	object := c.info.Defs[id]
	if object == nil {
		object = c.info.Uses[id]
	}
	if object == nil || object.Type() == nil {
		return false
	}
	if _, ok := object.(*types.Func); ok {
		return false
	}
	basic, ok := object.Type().Underlying().(*types.Basic)
	return ok && slices.Contains([]types.BasicKind{types.Float32, types.Float64, types.UntypedFloat}, basic.Kind())
}
