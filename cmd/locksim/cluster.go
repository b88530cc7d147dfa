package main

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/search"
)

func clusterCommand() command {
	return command{name: "cluster", summary: "print what shares a campaign among many machines", usage: clusterUsage, run: runCluster,
		names: func() []string { return engines }}
}

const clusterUsage = `usage: locksim cluster kubernetes|slurm|github COMMAND... --shards N [flags]

Prints the manifest, script or workflow by which Kubernetes, SLURM or GitHub Actions plays a campaign in parts, and merges what
they have recorded: locksim cluster slurm fuzz redlock --runs 1000000000 --shards 64 > campaign.sh. The COMMAND is fuzz, measure or
compare with its flags, and without those that share it. It is checked, and nothing is played or submitted. docs/campaigns.md goes
through it step by step.

  --shards N         into how many parts the campaign is cut. One task more plays one of them again, to be compared
  --cpus N           processors for each task (default 1)
  --memory SIZE      memory for each task, as the engine writes it (default 1G for SLURM, 1Gi for Kubernetes)
  --time LIMIT       SLURM: the time limit of a task (default 04:00:00)
  --folder FOLDER    SLURM: the folder for ledgers, which all nodes see (default locksim-campaign)
  --image IMAGE      Kubernetes: the image (default ghcr.io/locksim/locksim, of this version)
  --claim NAME       Kubernetes: the PersistentVolumeClaim for ledgers, which pods share (default: they go through logs)

Exit codes: 0 printed, 2 wrong usage.
`

var engines = []string{"kubernetes", "slurm", "github"}

//go:embed cluster
var clusterFiles embed.FS

// clusterOptions are the flags of cluster.
type clusterOptions struct {
	shards, cpus                       count
	memory, time, folder, image, claim string
}

// mostJobs is how many jobs a matrix of GitHub's may have.
const mostJobs = 256

func clusterFlags(o *clusterOptions) *flag.FlagSet {
	o.shards, o.cpus = count{0, 1, 10_000}, count{1, 1, maxJobs}
	fs := newFlags("cluster")
	fs.Var(&o.shards, "shards", "")
	fs.Var(&o.cpus, "cpus", "")
	fs.Var(notEmpty{&o.memory}, "memory", "")
	fs.StringVar(&o.time, "time", "04:00:00", "")
	fs.StringVar(&o.folder, "folder", "locksim-campaign", "")
	fs.Var(notEmpty{&o.image}, "image", "")
	fs.StringVar(&o.claim, "claim", "", "")
	return fs
}

func runCluster(c *call) int {
	o := &clusterOptions{}
	fs := clusterFlags(o)
	var words []string
	if len(c.args) > 0 && !slices.Contains([]string{"-h", "-help", "--help"}, c.args[0]) {
		c.args, words = separate(fs, c.args)
	}
	_, err := c.parse(fs)
	switch {
	case errors.Is(err, errHelp):
		return c.help("cluster")
	case err != nil:
	case len(words) == 0:
		err = errors.New("no engine named; want " + strings.Join(engines, ", "))
	case !slices.Contains(engines, words[0]):
		err = fmt.Errorf("there is no engine %q%s", words[0], didYouMean(words[0], engines, "help cluster"))
	case o.shards.value == 0:
		err = errors.New("--shards N is missing: into how many parts is the campaign to be cut?")
	case words[0] == "github" && o.shards.value >= mostJobs:
		err = fmt.Errorf("--shards %d: a workflow has at most %d jobs, and one plays a part again", o.shards.value, mostJobs)
	default:
		err = checkShared(words[1:])
	}
	if err != nil {
		return c.wrong(err)
	}
	build, err := search.Build()
	if err != nil {
		return c.failures(err)
	}
	text := o.fill(words[0], words[1:], build)
	return c.print([]byte(text))
}

// separate splits arguments into those for a set of flags, and all others.
func separate(fs *flag.FlagSet, args []string) (own, others []string) {
	for i := 0; i < len(args); i++ {
		name, _, assigned := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case !strings.HasPrefix(args[i], "-") || fs.Lookup(name) == nil:
			others = append(others, args[i])
		case assigned || i+1 == len(args):
			own = append(own, args[i])
		default:
			own = append(own, args[i], args[i+1])
			i++
		}
	}
	return own, others
}

// unshared are the flags that a command must not have: the engine's tasks set them, or the runs depend on the machine.
var unshared = []string{"shard", "ledger", "ledger-only", "resume", "for", "stop-at-first", "jobs", "from-json"}

// checkShared refuses a command that no machines can share.
func checkShared(words []string) error {
	if len(words) == 0 {
		return errors.New("no command given, such as fuzz redlock --runs 1000000000")
	}
	var sharing []string
	for _, cmd := range commands() {
		set := cmd.declared()
		if set.Lookup("resume") == nil { // it has no ledger that several tasks write a piece of: campaign has a table
			continue
		}
		if sharing = append(sharing, cmd.name); cmd.name != words[0] {
			continue
		}
		names, err := parseFlags(set, words[1:])
		mixed := set.Lookup("mixed")
		if errors.Is(err, errHelp) || err == nil && len(names) == 0 && (mixed == nil || mixed.Value.String() == "") {
			err = errors.New("it names nothing to play")
		}
		set.Visit(func(f *flag.Flag) {
			if slices.Contains(unshared, f.Name) {
				err = fmt.Errorf("%s does not go with many machines", dashed(f.Name))
			}
		})
		if err != nil {
			return fmt.Errorf("%s: %w", cmd.name, err)
		}
		return nil
	}
	return fmt.Errorf("%q cannot be shared among machines; want one of %s", words[0], strings.Join(sharing, ", "))
}

// fill makes the text for an engine.
func (o *clusterOptions) fill(engine string, words []string, build string) string {
	file := map[string]string{"kubernetes": "kubernetes.yaml", "slurm": "slurm.sh", "github": "github.yml"}[engine]
	text, err := clusterFiles.ReadFile("cluster/" + file)
	if err != nil {
		panic("an engine should have a text: " + err.Error())
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = asWord(w); w == "" {
			quoted[i] = quotedAlways(w)
		}
	}
	memory, folder := o.memory, o.folder
	if memory == "" {
		memory = map[string]string{"kubernetes": "1Gi", "slurm": "1G"}[engine]
	}
	if abs, err := filepath.Abs(folder); err == nil {
		folder = abs
	}
	var list []string
	for task := range o.shards.value + 1 {
		list = append(list, strconv.Itoa(task))
	}
	name := "locksim-" + words[0]
	return strings.NewReplacer(
		"@COMMAND@", "locksim "+strings.ReplaceAll(strings.Join(quoted, " "), "\n", " "), "@WORDS@", strings.Join(quoted, " "), "@NAME@", name,
		"@SHARDS@", strconv.Itoa(o.shards.value), "@TASKS@", strconv.Itoa(o.shards.value+1), "@LIST@", strings.Join(list, ", "),
		"@CPUS@", strconv.Itoa(o.cpus.value), "@MEMORY@", memory, "@TIME@", o.time, "@FOLDER@", quotedAlways(folder), "@FOLDERPLAIN@", folder,
		"@BUILD@", build, "@VERSION@", releaseOr("main"), "@IMAGE@", o.imageName(),
		"@CONTAINER@", o.container(words), "@VOLUMES@", o.volumes(), "@COLLECT@", o.collect(name),
	).Replace(string(text))
}

// quotedAlways is a word in single quotes, for a shell.
func quotedAlways(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// releaseOr is the version of this program if it is that of a release.
func releaseOr(other string) string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") && !strings.ContainsAny(info.Main.Version, "-+") {
		return info.Main.Version
	}
	return other
}

func (o *clusterOptions) imageName() string {
	if o.image != "" {
		return o.image
	}
	return "ghcr.io/locksim/locksim:" + strings.TrimPrefix(releaseOr("latest"), "v")
}

// container is what a pod runs, without a shell.
func (o *clusterOptions) container(words []string) string {
	args := slices.Clone(words)
	for i, w := range args {
		args[i] = strings.ReplaceAll(w, "$(", "$$(") // which Kubernetes would replace
	}
	args = append(args, "--jobs", strconv.Itoa(o.cpus.value), "--shard", "$(JOB_COMPLETION_INDEX)/"+strconv.Itoa(o.shards.value))
	if o.claim == "" {
		args = append(args, "--ledger", "-")
	} else {
		args = append(args, "--ledger-only", "--ledger", "/parts/$(POD_NAME).ledger")
	}
	var b strings.Builder
	b.WriteString("          args:\n")
	for _, w := range args {
		fmt.Fprintf(&b, "            - %s\n", yamlQuoted(w))
	}
	if o.claim == "" {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String() + `          env:
            - name: POD_NAME
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
            - {name: LOCKSIM_PROGRAMS, value: /parts/programs} # built clients of libraries, if the command names any
          volumeMounts:
            - {name: parts, mountPath: /parts}`
}

// volumes are those of the pods.
func (o *clusterOptions) volumes() string {
	if o.claim == "" {
		return ""
	}
	return "      volumes:\n        - name: parts\n          persistentVolumeClaim: {claimName: " + yamlQuoted(o.claim) + "}\n"
}

// yamlQuoted is a text in single quotes, for YAML.
func yamlQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// collect says how the ledgers are merged.
func (o *clusterOptions) collect(name string) string {
	wait := "# When it is complete (kubectl wait --for=condition=complete --timeout=24h job/" + name + "):\n#\n"
	if o.claim == "" {
		return "# Ledgers go through the pods' logs.\n" + wait +
			"#   for pod in $(kubectl get pods -l job-name=" + name + " -o name); do kubectl logs \"$pod\"; done | locksim merge -o merged -"
	}
	return "# Ledgers are files of the claim " + o.claim + ", a file for each attempt.\n" + wait +
		"#   locksim merge -o merged FOLDER    # where FOLDER is the claim, mounted in a pod, or copied by kubectl cp"
}
