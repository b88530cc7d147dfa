package locksim_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/locksim/locksim"

// arrows says which packages of this module a package may import. ARCHITECTURE.md prints the same table.
var arrows = map[string][]string{
	"internal/long":               {},
	"internal/long/names":         {},
	"trace":                       {},
	"locks":                       {},
	"internal/live":               {"locks", "internal/real"},
	"internal/real":               {},
	"history":                     {"trace"},
	"sim":                         {"trace"},
	"internal/sim/redis":          {"sim", "trace"},
	"internal/sim/redis/sentinel": {"sim", "internal/sim/redis", "trace"},
	"internal/sim/redis/cluster":  {"sim", "internal/real", "internal/sim/redis", "trace"},
	"internal/sim/zookeeper":      {"sim", "trace"},
	"internal/sim/zookeeper/jute": {"internal/sim/zookeeper"},
	"internal/sim/wire": {
		"sim", "internal/sim/lease", "internal/sim/memcached", "internal/sim/object", "internal/sim/redis", "internal/sim/zookeeper", "internal/sim/zookeeper/jute",
	},
	"internal/sim/program":       {"sim", "internal/sim/wire"},
	"internal/sim/wasm":          {"sim", "internal/sim/program", "internal/sim/wire"},
	"internal/sim/lease":         {"sim", "trace"},
	"internal/sim/memcached":     {"internal/real", "sim", "trace"},
	"internal/sim/object":        {"sim", "trace"},
	"internal/sim/database":      {"internal/real", "sim", "trace"},
	"internal/sim/storage":       {"sim", "trace", "history"},
	"checker":                    {"history", "trace"},
	"internal/backend":           {"locks", "sim"},
	"internal/backend/redis":     {"internal/backend", "locks", "trace"},
	"internal/backend/zookeeper": {"internal/backend", "locks", "trace"},
	"internal/backend/lease":     {"internal/backend", "trace"},
	"internal/backend/memcached": {"internal/backend", "trace"},
	"internal/backend/object":    {"internal/backend", "trace"},
	"internal/backend/database":  {"internal/backend", "trace"},
	"internal/backend/all": {
		"internal/backend", "internal/backend/database", "internal/backend/lease", "internal/backend/memcached", "internal/backend/object", "internal/backend/redis",
		"internal/backend/zookeeper",
	},
	"internal/backend/simulated": {"internal/record", "locks", "scenarios", "sim", "internal/sim/wire"},
	"internal/backend/redis/servers": {
		"history", "internal/backend/redis", "internal/backend/simulated", "internal/record", "internal/sim/redis",
		"internal/sim/redis/cluster", "internal/sim/redis/sentinel", "internal/sim/wire", "locks", "scenarios", "sim", "trace",
	},
	"internal/backend/zookeeper/servers": {
		"history", "internal/backend/simulated", "internal/record", "internal/sim/wire", "internal/sim/zookeeper", "locks", "sim", "trace",
	},
	"internal/backend/lease/servers": {
		"history", "internal/backend/simulated", "internal/record", "internal/sim/lease", "internal/sim/wire", "locks", "sim", "trace",
	},
	"internal/backend/object/servers": {
		"history", "internal/backend/simulated", "internal/record", "internal/sim/object", "internal/sim/wire", "locks", "sim", "trace",
	},
	"internal/backend/memcached/servers": {
		"history", "internal/backend/simulated", "internal/record", "internal/sim/memcached", "internal/sim/wire", "locks", "sim", "trace",
	},
	"internal/backend/database/servers": {
		"history", "internal/backend/simulated", "internal/record", "internal/sim/database", "locks", "sim", "trace",
	},
	"internal/backend/all/servers": {
		"internal/backend", "internal/backend/database", "internal/backend/database/servers", "internal/backend/lease", "internal/backend/lease/servers",
		"internal/backend/memcached", "internal/backend/memcached/servers", "internal/backend/object", "internal/backend/object/servers", "internal/backend/redis", "internal/backend/redis/servers",
		"internal/backend/simulated", "internal/backend/zookeeper", "internal/backend/zookeeper/servers",
	},
	"scenarios":         {"internal/backend", "internal/backend/all", "locks", "sim", "history", "checker", "trace"},
	"internal/workload": {"locks", "history"},
	"internal/record":   {"history", "locks", "sim", "internal/sim/storage", "trace"},
	"internal/command":  {"checker", "history", "internal/harness", "internal/sim/program", "internal/sim/wire", "internal/workload", "locks", "scenarios", "sim"},
	"internal/harness": {"internal/backend/all/servers", "internal/backend/simulated",
		"internal/record",
		"internal/backend", "scenarios", "checker", "internal/workload", "locks", "internal/live", "internal/real", "sim", "internal/sim/lease", "internal/sim/program", "internal/sim/storage", "internal/sim/wasm", "internal/sim/wire", "history", "trace",
	},
	"guest":   {"internal/workload", "locks"},
	"clients": {"locks", "internal/backend/all", "internal/command", "internal/sim/wasm"},
	"internal/replay": {"internal/backend/redis", "internal/command", "internal/sim/program", "internal/record",
		"internal/real", "internal/live", "internal/workload", "internal/harness", "scenarios", "checker", "locks", "sim", "internal/sim/redis", "internal/sim/storage",
		"internal/sim/zookeeper", "internal/sim/zookeeper/jute", "history", "trace",
	},
	"internal/search":           {"internal/backend", "internal/harness", "scenarios", "checker", "locks", "sim", "history", "trace"},
	"internal/promise":          {"internal/backend", "internal/search", "scenarios", "checker", "locks", "sim", "history", "trace"},
	"internal/search/claims":    {"internal/promise", "internal/search", "internal/search/ledger", "internal/harness", "scenarios", "checker", "locks", "sim", "history"},
	"internal/search/minimal":   {"internal/backend", "internal/search", "internal/search/parameter", "internal/harness", "scenarios", "checker", "locks", "sim", "history", "trace"},
	"internal/search/parameter": {"scenarios", "locks", "sim", "trace"},
	"internal/search/remedy":    {"history", "internal/backend", "locks", "scenarios"},
	"internal/search/margin":    {"internal/search", "internal/search/parameter", "locks", "internal/harness", "scenarios", "checker", "sim"},
	"internal/search/future":    {"internal/backend", "internal/search", "internal/search/parameter", "internal/search/remedy", "internal/harness", "scenarios", "checker", "locks", "sim", "history", "trace"},
	"internal/search/fuzz":      {"internal/search", "internal/search/ledger", "internal/search/minimal", "internal/harness", "scenarios", "checker", "locks", "history", "trace"},
	"internal/search/explore":   {"internal/backend", "internal/search", "internal/search/minimal", "internal/search/parts", "internal/harness", "scenarios", "checker", "locks", "sim", "history", "trace"},
	"internal/search/ledger":    {},
	"internal/profile":          {"scenarios"},
	"internal/search/odds":      {"checker", "history", "internal/backend", "internal/harness", "internal/profile", "internal/search", "internal/search/measure", "internal/search/parameter", "internal/search/parts", "locks", "scenarios", "sim", "trace"},
	"internal/search/parts":     {"internal/search/ledger"},
	"internal/search/measure":   {"internal/search", "internal/search/parts", "internal/harness", "scenarios", "checker", "locks", "history"},
	"internal/serve":            {"sim", "internal/sim/lease", "internal/sim/memcached", "internal/sim/object", "internal/sim/redis", "internal/sim/zookeeper", "internal/sim/wire", "locks", "internal/live", "internal/real", "trace"},
	"locktest":                  {"internal/backend", "internal/backend/all", "clients", "internal/promise", "internal/search", "internal/search/minimal", "reports", "internal/harness", "scenarios", "checker", "locks", "sim", "history", "trace"},
	"internal/search/advise": {
		"internal/search", "internal/search/margin", "internal/search/measure", "internal/search/parameter", "internal/search/remedy", "internal/harness", "internal/backend",
		"scenarios", "checker", "history", "locks", "sim", "trace",
	},
	"internal/search/compare": {
		"internal/search", "internal/search/measure", "internal/search/minimal", "internal/search/parts", "internal/harness", "scenarios", "checker", "locks", "sim", "history", "trace",
	},
	"reports/internal/wording":  {"trace"},
	"reports/internal/timeline": {"trace"},
	"reports/internal/paint":    {"reports/internal/timeline"},
	"reports/internal/model":    {"checker", "history", "reports/internal/timeline", "reports/internal/wording", "scenarios", "sim", "trace"},
	"reports/internal/moments":  {"history", "reports/internal/model", "reports/internal/paint", "reports/internal/timeline", "reports/internal/wording", "scenarios", "sim", "trace"},
	"reports/internal/tell":     {"checker", "history", "reports/internal/model", "reports/internal/moments", "reports/internal/paint", "reports/internal/timeline", "reports/internal/wording", "scenarios", "sim", "trace"},
	"reports/internal/layout":   {"checker", "history", "reports/internal/model", "reports/internal/moments", "reports/internal/paint", "reports/internal/tell", "reports/internal/timeline", "reports/internal/wording", "scenarios", "sim", "trace"},
	"reports/internal/text":     {"checker", "reports/internal/layout", "reports/internal/model", "reports/internal/moments", "reports/internal/paint", "reports/internal/tell", "reports/internal/timeline", "reports/internal/wording"},
	"reports/internal/document": {"checker", "reports/internal/model", "reports/internal/wording", "trace"},
	"reports/internal/ci":       {"checker", "reports/internal/junit", "reports/internal/model", "reports/internal/paint", "reports/internal/tell", "reports/internal/text", "reports/internal/wording", "scenarios", "trace"},
	"reports/internal/svg":      {"reports/internal/timeline", "reports/internal/wording", "trace"},
	"reports/internal/fill":     {},
	"reports/internal/page":     {"reports/internal/fill", "reports/internal/svg", "reports/internal/timeline"},
	"reports/internal/export":   {"reports/internal/timeline", "reports/internal/wording", "trace"},
	"reports/internal/junit":    {},
	"reports":                   {"checker", "history", "reports/internal/ci", "reports/internal/document", "reports/internal/export", "reports/internal/layout", "reports/internal/model", "reports/internal/page", "reports/internal/svg", "reports/internal/tell", "reports/internal/text", "reports/internal/timeline", "reports/internal/wording", "scenarios", "trace"},
	"reports/comparison":        {"internal/search/compare", "reports/internal/fill", "reports/internal/svg", "reports/internal/wording"},
	"internal/ingest":           {"checker", "history", "scenarios", "trace"},
	"internal/account": {
		"checker", "internal/harness", "internal/search", "internal/search/future", "internal/search/margin", "internal/search/minimal", "reports",
	},
	"internal/playground": {
		"checker", "history", "internal/account", "internal/harness", "internal/search", "internal/search/explore", "internal/search/minimal", "internal/search/parameter",
		"locks", "reports", "scenarios", "sim", "trace",
	},
	"internal/playground/wasm": {"internal/playground"},
	"internal/site":            {},
	"cmd/locksim": {
		"internal/account", "internal/playground", "internal/site",
		"internal/search/advise",
		"internal/ingest",
		"internal/search", "internal/search/claims", "internal/search/parts", "internal/search/ledger", "internal/search/margin", "internal/search/minimal", "internal/search/fuzz", "internal/search/explore", "internal/search/measure", "internal/search/compare", "internal/search/odds", "internal/search/parameter", "internal/profile",
		"reports", "reports/comparison", "internal/live", "internal/serve", "clients", "internal/replay",
		"internal/harness", "scenarios", "checker", "history", "locks", "sim", "trace",
	},
}

// forTests are the libraries that only test files may import.
var forTests = []string{"pgregory.net/rapid", "github.com/stretchr/testify/require", "github.com/stretchr/testify/assert"}

// behind names the one package that each library lives behind, by the path of its module.
var behind = map[string]string{
	"github.com/alicebob/miniredis/v2":  "internal/sim/redis",
	"github.com/yuin/gopher-lua":        "internal/sim/redis",
	"github.com/anishathalye/porcupine": "checker",
	"go.yaml.in/yaml/v3":                "scenarios",
	"pgregory.net/rapid":                "locktest",
	"gonum.org/v1/gonum":                "internal/search/measure",
	"github.com/andybalholm/brotli":     "cmd/locksim",
	"github.com/go-zookeeper/zk":        "internal/live",
	"github.com/tetratelabs/wazero":     "internal/sim/wasm",
	"golang.org/x/mod":                  "clients",
	"golang.org/x/net":                  "internal/sim/wire",
	"golang.org/x/sys":                  "cmd/locksim",
	"github.com/yuin/goldmark":          "internal/site",
}

// livesBehind returns the package that a library lives behind; "" if it has no place in this module.
func livesBehind(imported string) string {
	for library, folder := range behind {
		if imported == library || strings.HasPrefix(imported, library+"/") {
			return folder
		}
	}
	return ""
}

// goFile is a source file of the module.
type goFile struct {
	name    string
	folder  string
	test    bool
	imports []string
}

// sources reads the module's files in this process: a test that asked the go command would be cached wrongly.
func sources(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	root := os.DirFS(".")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() && name != "." {
			_, module := fs.Stat(root, name+"/go.mod") // of its own: what it needs is kept out of this one
			if module == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return fs.SkipDir
			}
		}
		if !strings.HasSuffix(name, ".go") || path.Dir(name) == "." {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		f := goFile{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
		for _, i := range parsed.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			f.imports = append(f.imports, imported)
		}
		files = append(files, f)
		return nil
	})
	require.NoError(t, err)
	return files
}

// TestArrows holds every import, those of test files too, against the table.
func TestArrows(t *testing.T) {
	seen, used := make(map[string]bool), make(map[[2]string]bool)
	for _, f := range sources(t) {
		allowed, ok := arrows[f.folder]
		if !ok {
			t.Errorf("%s: package %q has no line in the table of arrows", f.name, f.folder)
			continue
		}
		seen[f.folder] = true
		for _, imported := range f.imports {
			if f.test && imported == module+"/internal/long" { // any test may ask how much to play
				continue
			}
			checkImport(t, f, allowed, imported)
			used[[2]string{f.folder, strings.TrimPrefix(imported, module+"/")}] = true
		}
	}
	for folder := range arrows {
		if !seen[folder] {
			t.Errorf("the table of arrows has a line for %q, which does not exist", folder)
		}
		for _, to := range arrows[folder] {
			if !used[[2]string{folder, to}] {
				t.Errorf("the table of arrows allows %s to import %s, which it does not", folder, to)
			}
		}
	}
}

func checkImport(t *testing.T, f goFile, allowed []string, imported string) {
	t.Helper()
	inside, ok := strings.CutPrefix(imported, module+"/")
	switch {
	case ok && inside == f.folder && f.test:
	case ok && !slices.Contains(allowed, inside):
		t.Errorf("%s imports %s: no arrow points from %s to it", f.name, inside, f.folder)
	case ok:
	case !strings.Contains(imported, "."): // standard library
	case slices.Contains(forTests, imported):
		if !f.test && livesBehind(imported) != f.folder {
			t.Errorf("%s imports %s, which is for test files", f.name, imported)
		}
	case livesBehind(imported) != f.folder:
		t.Errorf("%s imports %s: it lives behind package %q", f.name, imported, livesBehind(imported))
	}
}

// linked are the packages of the module, and of the libraries that live behind them, which are linked with a package: what it imports,
// and what that imports.
func linked(files []goFile, folder string) map[string]bool {
	imports := make(map[string][]string)
	for _, f := range files {
		if !f.test {
			imports[f.folder] = append(imports[f.folder], f.imports...)
		}
	}
	with := make(map[string]bool)
	for next := []string{folder}; len(next) > 0; next = next[1:] {
		for _, imported := range imports[next[0]] {
			name := strings.TrimPrefix(imported, module+"/")
			if !with[name] {
				with[name] = true
				next = append(next, name)
			}
		}
	}
	return with
}

// TestAuthorsOfLocksLinkNoMachineForPrograms keeps the compile time of a lock's own test from what it does not use.
func TestAuthorsOfLocksLinkNoMachineForPrograms(t *testing.T) {
	files := sources(t)
	for _, folder := range []string{"locks", "locktest", "scenarios", "checker", "sim"} {
		with := linked(files, folder)
		for _, unused := range []string{"clients", "internal/sim/wasm", "internal/live", "internal/serve", "internal/real", "net/http"} {
			require.False(t, with[unused], "%s links %s", folder, unused)
		}
	}
	command := linked(files, "cmd/locksim")
	require.True(t, command["internal/sim/wasm"] && command["internal/live"] && command["net/http"], "linked follows imports")
}

// TestArchitectureShowsTheArrows compares the document's table, below its heading, with the one above.
func TestArchitectureShowsTheArrows(t *testing.T) {
	document, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(document), "\n## Arrows\n")
	_, table, _ := strings.Cut(section, "|---|---|\n")
	shown, _, found := strings.Cut(table, "\n\n")
	require.True(t, found)
	rows := make([]string, 0, len(arrows))
	for _, folder := range slices.Sorted(maps.Keys(arrows)) {
		to := "–"
		if len(arrows[folder]) > 0 {
			to = "`" + strings.Join(slices.Sorted(slices.Values(arrows[folder])), "`, `") + "`"
		}
		rows = append(rows, "| `"+folder+"` | "+to+" |")
	}
	require.Equal(t, rows, strings.Split(shown, "\n"))
}
