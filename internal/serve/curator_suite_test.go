package serve_test

import (
	"bytes"
	"encoding/xml"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// curatorNeeds are the packages of Debian whose archives the suite of Curator's recipes is compiled and played with.
var curatorNeeds = []string{
	"curator-client", "curator-framework", "curator-recipes", "curator-test", "zookeeper", "zookeeper-jute", "guava", "slf4j-api", "slf4j-nop",
	"netty-handler", "netty-transport", "netty-common", "netty-buffer", "netty-codec", "metrics-core", "snappy-java", "jackson-core",
	"jackson-databind", "jackson-annotations", "commons-io", "junit-jupiter-api", "junit-jupiter-engine", "junit-jupiter-params",
	"junit-platform-commons", "junit-platform-engine", "junit-platform-launcher", "junit-platform-console", "junit-platform-reporting",
	"opentest4j", "apiguardian-api", "assertj-core", "picocli", "univocity-parsers",
}

// wantsMore tells the files of the suite that use libraries which Debian has not, or several servers, which are not started one by one.
var wantsMore = regexp.MustCompile(`org\.mockito|commons\.math|ChaosMonkey|TestingCluster`)

// playCurator plays tests of Curator's recipes. No package has them: CURATOR_SOURCE names a folder with the source of this version.
func (s *suite) playCurator(t *testing.T) map[string]string {
	t.Helper()
	source := os.Getenv("CURATOR_SOURCE")
	if source == "" {
		t.Skip("needs CURATOR_SOURCE, a folder with the source of Apache Curator " + s.version)
	}
	var archives []string
	for _, name := range curatorNeeds {
		archives = append(archives, filepath.Join("/usr/share/java", name+".jar"))
		if _, err := os.Stat(archives[len(archives)-1]); err != nil {
			t.Skip("needs Debian's packages libcurator-recipes-java, libcurator-test-java, libassertj-core-java and junit5:", err)
		}
	}
	stand, err := filepath.Glob("testdata/curator/*.java")
	require.NoError(t, err)
	ours, theirs := t.TempDir(), t.TempDir()
	classes := strings.Join(append([]string{theirs, ours}, archives...), ":")
	compile := func(to string, args ...string) {
		out, err := exec.CommandContext(t.Context(), "javac", append([]string{"-nowarn", "-proc:none", "-cp", classes, "-d", to}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	compile(ours, stand...)
	var files []string
	var names []string
	const recipes = "org/apache/curator/framework/recipes"
	for _, folder := range s.args {
		found, err := filepath.Glob(filepath.Join(source, "curator-recipes/src/test/java", recipes, folder, "*.java"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, file := range found {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if wantsMore.Match(text) {
				continue
			}
			files = append(files, file)
			if class := strings.TrimSuffix(filepath.Base(file), ".java"); bytes.Contains(text, []byte("public class "+class)) {
				names = append(names, "-c", strings.ReplaceAll(filepath.Join(recipes, folder, class), "/", "."))
			}
		}
	}
	compile(theirs, append([]string{"-sourcepath", filepath.Join(source, "curator-framework/src/test/java")}, files...)...)
	results := runJUnit(t, classes, names)
	for range 2 { // its tests wait for fractions of a second, which are over soon on a busy machine
		var again []string
		for name, how := range results {
			if how == "fail" && s.fails[name] == "" {
				i := strings.LastIndex(name, ".")
				again = append(again, "-m", strings.ReplaceAll(recipes, "/", ".")+"."+name[:i]+"#"+name[i+1:])
			}
		}
		if len(again) > 0 {
			maps.Copy(results, runJUnit(t, classes, again))
		}
	}
	return results
}

// runJUnit runs classes or methods, and returns how each test ends.
func runJUnit(t *testing.T, classes string, selected []string) map[string]string {
	t.Helper()
	told := t.TempDir()
	test := exec.CommandContext(t.Context(), "java", append([]string{"-cp", classes, "org.junit.platform.console.ConsoleLauncher", "--disable-banner",
		"--details=none", "--reports-dir", told}, selected...)...)
	test.Env = standIns(t)
	out, err := test.CombinedOutput()
	text, read := os.ReadFile(filepath.Join(told, "TEST-junit-jupiter.xml"))
	require.NoError(t, read, "%v: %s", err, out)
	var report struct {
		Cases []struct {
			Class   string     `xml:"classname,attr"`
			Name    string     `xml:"name,attr"`
			Failed  []struct{} `xml:"failure"`
			Wrong   []struct{} `xml:"error"`
			Skipped []struct{} `xml:"skipped"`
		} `xml:"testcase"`
	}
	require.NoError(t, xml.Unmarshal(text, &report))
	results := map[string]string{}
	for _, c := range report.Cases {
		how := "pass"
		switch {
		case len(c.Skipped) > 0:
			how = "skip"
		case len(slices.Concat(c.Failed, c.Wrong)) > 0:
			how = "fail"
		}
		_, name, _ := strings.Cut(c.Class, "recipes.")
		results[name+"."+strings.TrimSuffix(c.Name, "()")] = how
	}
	t.Logf("%s", out)
	return results
}
