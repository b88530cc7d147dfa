package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/long"
)

// slurm is a SLURM cluster of this machine, as Debian's packages slurm-wlm and munge have it.
type slurm struct {
	t           *testing.T
	folder      string
	environment []string
	daemons     map[string]*exec.Cmd
}

const slurmNodes = 3

// newSlurm starts one.
func newSlurm(t *testing.T) *slurm {
	t.Helper()
	for _, program := range []string{"slurmctld", "slurmd", "munged", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil || os.Getuid() != 0 {
			t.Skip("no SLURM for root here: apt-get install slurm-wlm munge")
		}
	}
	folder, err := os.MkdirTemp("", "locksim-slurm-") //nolint:usetesting // a socket's path is short, and munge wants no folder that others can write to
	require.NoError(t, err)
	require.NoError(t, os.Chmod(folder, 0o755))
	host, err := os.Hostname()
	require.NoError(t, err)
	host, _, _ = strings.Cut(host, ".")
	s := &slurm{t: t, folder: folder, environment: append(asCommand(t, nil), "SLURM_CONF="+folder+"/slurm.conf"), daemons: map[string]*exec.Cmd{}}
	ports := []string{}
	for range slurmNodes + 1 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	var nodes strings.Builder
	for n := range slurmNodes {
		fmt.Fprintf(&nodes, "NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%s CPUs=2 RealMemory=4000\n", n, host, ports[n+1])
	}
	put(t, folder+"/slurm.conf", strings.NewReplacer("HOST", host, "FOLDER", folder, "PORT", ports[0], "NODES", nodes.String()).Replace(`ClusterName=locksim
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=PORT
AuthType=auth/munge
AuthInfo=socket=FOLDER/munge.socket
StateSaveLocation=FOLDER/state
SlurmdSpoolDir=FOLDER/spool-%n
SlurmctldPidFile=FOLDER/slurmctld.pid
SlurmdPidFile=FOLDER/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1
ReturnToService=2
SlurmdTimeout=5
MpiDefault=none
NODESPartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`))
	put(t, folder+"/munge.key", strings.Repeat("a key of this test alone ", 50))
	require.NoError(t, os.Mkdir(folder+"/state", 0o700))
	t.Cleanup(s.end)
	return s
}

// start starts a daemon again, or for the first time.
func (s *slurm) start(name string, line ...string) {
	log, err := os.OpenFile(filepath.Join(s.folder, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	defer log.Close()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.environment, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(s.t, cmd.Start())
	s.daemons[name] = cmd
}

func (s *slurm) startController() { s.start("slurmctld", "slurmctld", "-D") }

func (s *slurm) startNode(n int) {
	s.start(fmt.Sprintf("n%d", n), "slurmd", "-D", "-N", fmt.Sprintf("n%d", n))
}

// kill kills a daemon.
func (s *slurm) kill(name string) {
	_ = s.daemons[name].Process.Kill()
	_ = s.daemons[name].Wait()
}

func (s *slurm) end() {
	_, _ = s.ask("scancel", "--user=root")
	time.Sleep(time.Second)
	for name := range s.daemons {
		s.kill(name)
	}
	for _, pid := range s.tasks() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = os.RemoveAll(s.folder)
}

// ask runs one of SLURM's commands.
func (s *slurm) ask(line ...string) (string, error) {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = s.environment
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// tasks are the processes that play.
func (s *slurm) tasks() (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, err := os.ReadFile(name)
		if err == nil && bytes.Contains(line, []byte("--ledger-only")) && bytes.Contains(line, []byte(s.folder)) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// hurt kills a task or a daemon, or cuts a node off for longer than SLURM waits for it.
func (s *slurm) hurt(r *rand.Rand) (what string) {
	node := r.IntN(slurmNodes)
	name := fmt.Sprintf("n%d", node)
	switch r.IntN(20) {
	case 0:
		s.kill("slurmctld")
		s.startController()
		return "the controller"
	case 1:
		s.kill(name)
		s.startNode(node)
		return "the daemon of a node"
	case 2:
		daemon := s.daemons[name].Process
		_ = daemon.Signal(syscall.SIGSTOP)
		time.Sleep(8 * time.Second) // its tasks live on
		_ = daemon.Signal(syscall.SIGCONT)
		return "the network of a node"
	}
	list := s.tasks()
	r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	if r.IntN(2) == 0 { // so that some are certainly hit
		if i := slices.IndexFunc(list, halfWritten); i > 0 {
			list[0] = list[i]
		}
	}
	if len(list) == 0 {
		return ""
	}
	half := halfWritten(list[0])
	_ = syscall.Kill(list[0], syscall.SIGKILL)
	if half {
		return "a task with a half-written ledger"
	}
	return "a task"
}

// halfWritten reports whether the ledger of a task has some of its 98 stretches, but not nearly all.
func halfWritten(pid int) bool {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	ledger := regexp.MustCompile(`--ledger\x00([^\x00]+)`).FindSubmatch(line)
	if ledger == nil {
		return false
	}
	text, err := os.ReadFile(string(ledger[1]))
	stretches := bytes.Count(text, []byte("\n")) - 1
	return err == nil && stretches > 0 && stretches < 90
}

// TestACampaignOnSLURMSurvivesKills runs the script for SLURM on a real one of several nodes while tasks and daemons are killed at random
// moments, a node is cut off and goes on, another one has a wrong build, a ledger is damaged, and the disk is full. Where no job is left
// and the campaign has not come to its end, an operator runs the script again.
func TestACampaignOnSLURMSurvivesKills(t *testing.T) {
	if long.Pick(0, 0, 1) < 5 {
		t.Skip("played with LONG=5 only")
	}
	t.Chdir(t.TempDir())
	s := newSlurm(t)
	command := strings.Replace(shared, "--runs 1200", "--runs 200000", 1)
	must(t, command+" --ledger whole --ledger-only")
	s.begin()
	campaign := filepath.Join(s.folder, "campaign")
	require.NoError(t, os.Mkdir(campaign, 0o755))
	said, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", campaign).CombinedOutput() // a disk for it alone
	require.NoError(t, err, string(said))
	defer func() { _ = exec.Command("umount", "-l", campaign).Run() }()
	s.mislead()
	put(t, "campaign.sh", must(t, "cluster slurm "+command+" --shards 8 --memory 300M --folder "+campaign))
	submit := func() {
		said, err := s.ask("bash", "campaign.sh")
		t.Logf("%s%v", said, err)
	}
	submit()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(1, seed))
	hurt, kills, flipped, full, submitted := map[string]int{}, 0, false, false, 1
	report := func() string {
		text, _ := os.ReadFile(filepath.Join(campaign, "report.txt"))
		return string(text)
	}
	whole := func() bool {
		return strings.Contains(report(), "200000 runs of etcd") && !strings.Contains(report(), "are in no part")
	}
	for begun := time.Now(); time.Since(begun) < 15*time.Minute && !whole(); {
		time.Sleep(time.Duration(100+r.IntN(400)) * time.Millisecond)
		if kills < 50 {
			if what := s.hurt(r); what != "" {
				hurt[what]++
				kills++
			}
		}
		switch {
		case kills == 25:
			put(t, filepath.Join(s.folder, "mended"), "")
		case kills >= 10 && !flipped:
			flipped = flip(t, r, filepath.Join(campaign, "parts"))
		case kills >= 15 && !full:
			full = s.fill(filepath.Join(campaign, "filler"))
		}
		left, err := s.ask("squeue", "--noheader")
		if err == nil && strings.TrimSpace(left) == "" && !whole() {
			submitted++
			submit()
		}
	}
	t.Logf("seed %d, hurt: %v, a byte flipped: %t, submitted %d times", seed, hurt, flipped, submitted)
	if !whole() {
		for task := range 9 {
			t.Logf("task %d:\n%s", task, contentOf(t, fmt.Sprintf("%s/log-%d.txt", campaign, task)))
		}
	}
	require.True(t, whole(), "seed %d: %s", seed, report())
	require.True(t, contentOf(t, "whole") == contentOf(t, filepath.Join(campaign, "merged")), "seed %d: not the ledger of one machine", seed) //nolint:testifylint // too long to be printed
	require.True(t, flipped, "seed %d: a ledger was damaged", seed)
	require.True(t, full, "seed %d: the disk was full while tasks played", seed)
	require.GreaterOrEqual(t, kills, 50, "seed %d", seed)
	require.GreaterOrEqual(t, hurt["a task with a half-written ledger"], 10, "seed %d", seed)
	logs, err := filepath.Glob(campaign + "/log-*.txt")
	require.NoError(t, err)
	var all strings.Builder
	for _, name := range logs {
		all.WriteString(contentOf(t, name))
	}
	require.Regexp(t, `is of another campaign than this one: build sha256-[0-9a-f]+, not sha256-[0-9a-f]+`, all.String(), "seed %d", seed)
}

// begin starts all daemons.
func (s *slurm) begin() {
	s.start("munged", "munged", "-F", "--force", "--key-file="+s.folder+"/munge.key", "--socket="+s.folder+"/munge.socket",
		"--pid-file="+s.folder+"/munge.pid", "--log-file="+s.folder+"/munge.log", "--seed-file="+s.folder+"/munge.seed")
	time.Sleep(500 * time.Millisecond)
	s.startController()
	for n := range slurmNodes {
		s.startNode(n)
	}
	require.Eventually(s.t, func() bool {
		said, _ := s.ask("sinfo", "--noheader", "--format=%t %D")
		return strings.TrimSpace(said) == fmt.Sprintf("idle %d", slurmNodes)
	}, time.Minute, time.Second)
}

// mislead has the last node find a locksim of another build, until the file mended is there.
func (s *slurm) mislead() {
	self, err := os.Executable()
	require.NoError(s.t, err)
	anotherBuild(s.t, s.folder+"/other")
	bin := s.folder + "/bin"
	require.NoError(s.t, os.MkdirAll(bin, 0o755))
	text := fmt.Sprintf("#!/bin/bash\n[ \"${SLURMD_NODENAME:-}\" = n%d ] && [ ! -e %s/mended ] && exec %s/other/locksim \"$@\"\nexec %s \"$@\"\n",
		slurmNodes-1, s.folder, s.folder, self)
	require.NoError(s.t, os.WriteFile(bin+"/locksim", []byte(text), 0o700))
	s.environment = append(s.environment, "PATH="+bin+":"+os.Getenv("PATH"))
}

// fill has the disk be full until the tasks have ended that are playing, and reports whether there were any.
func (s *slurm) fill(filler string) bool {
	playing := s.tasks()
	full := errors.Is(os.WriteFile(filler, make([]byte, 16<<20), 0o600), syscall.ENOSPC)
	defer os.Remove(filler)
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
		left := s.tasks()
		if !slices.ContainsFunc(playing, func(pid int) bool { return slices.Contains(left, pid) }) {
			return full && len(playing) > 0
		}
	}
	return false
}

// flip flips a bit in the middle of a ledger that has some lines, and reports whether there is one.
func flip(t *testing.T, r *rand.Rand, parts string) bool {
	names, err := filepath.Glob(parts + "/*.ledger")
	require.NoError(t, err)
	for _, i := range r.Perm(len(names)) {
		text := []byte(contentOf(t, names[i]))
		if bytes.Count(text, []byte("\n")) < 4 {
			continue
		}
		f, err := os.OpenFile(names[i], os.O_WRONLY, 0)
		require.NoError(t, err)
		defer f.Close()
		at := len(text)/2 + r.IntN(20)
		_, err = f.WriteAt([]byte{text[at] ^ 1}, int64(at))
		return err == nil
	}
	return false
}
