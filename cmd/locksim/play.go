package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/andybalholm/brotli"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/internal/site"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

func playCommand() command {
	return command{name: "play", summary: "change a scenario in the browser, and see what follows", usage: playUsage, run: runPlay, ends: true,
		names: scenarios.Names}
}

const playUsage = `usage: locksim play [SCENARIO|FILE] [flags]

Opens a page in the browser on which the scenario (default ` + playground.Opens + `) can be changed: sliders for the lease and for what
clients do, faults that can be dragged along the time axis, the text of the scenario itself. The engine runs in the page, so that
verdicts follow at once; it is the same as that of locksim run, with the same digests. Nothing is sent anywhere, and a link
holds the whole scenario.

It prints the address of the page, and serves it until it is interrupted. Releases have the engine in the folder engine beside the
program; others build it from locksim's source with the Go toolchain when it is used first, which takes a minute. Beside the page are the documentation and the
published comparison of locks, where locksim's source is.

  --export FOLDER    write all of it as files that any web server can serve, instead of serving it
  --listen ADDRESS   host:port to serve at (default 127.0.0.1:0, where port 0 means any free port)
  --no-open          do not open the browser

Exit codes: 0 after an interrupt or --export, 2 wrong usage, an invalid scenario, or no engine, 130 interrupted while it builds.
`

// playOptions are the flags of play.
type playOptions struct {
	export, listen string
	noOpen         boolFlag
}

func playFlags(o *playOptions) *flag.FlagSet {
	fs := newFlags("play")
	fs.StringVar(&o.export, "export", "", "")
	fs.StringVar(&o.listen, "listen", "127.0.0.1:0", "")
	fs.Var(&o.noOpen, "no-open", "")
	return fs
}

func runPlay(c *call) int {
	o := &playOptions{}
	names, err := c.parse(playFlags(o))
	if errors.Is(err, errHelp) {
		return c.help("play")
	}
	switch {
	case err != nil:
	case len(names) > 1:
		err = fmt.Errorf("one scenario can be played with at a time, but %s were given", counted(len(names), "name"))
	case len(names) == 0:
		names = []string{playground.Opens}
	}
	if err != nil {
		return c.wrong(err)
	}
	manual, err := documentation()
	if err != nil {
		return c.failures(err)
	}
	page, err := playPage(names[0], len(manual) > 0)
	if err != nil {
		return c.failures(err)
	}
	var listener net.Listener
	if o.export != "" {
		err = os.MkdirAll(o.export, 0o755)
	} else if listener, err = net.Listen("tcp", o.listen); err != nil {
		err = fmt.Errorf("--listen: %w", err)
	}
	if err != nil {
		return c.wrong(err)
	}
	engine, starter, err := c.engine()
	if c.ctx.Err() != nil {
		return exitInterrupted
	}
	if err != nil {
		return c.failures(err)
	}
	files := map[string][]byte{"index.html": page, "worker.js": reports.PlaygroundWorker(), "wasm_exec.js": starter, "locksim.wasm": engine}
	for name, data := range manual {
		files[manualFolder+name] = data
	}
	if o.export != "" {
		return c.exportPage(o.export, files)
	}
	return c.servePage(o, listener, files)
}

// manualFolder is where the documentation is beside the page.
const manualFolder = "manual/"

// documentation is the project's documents as pages. They are in locksim's source; there are none where that is not.
func documentation() (map[string][]byte, error) {
	folder, ok := clients.Source()
	if !ok {
		return nil, nil
	}
	root := os.DirFS(folder)
	documents, err := site.Documents(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return site.Pages(root, documents)
}

// playPage is the page with the scenario of a name or a file. If documented, it leads to the documentation.
func playPage(name string, documented bool) ([]byte, error) {
	t, err := readText(name)
	if err != nil {
		return nil, err
	}
	if _, err := scenarios.Parse(t.called, t.text); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = playground.WritePage(&b, string(t.text), "", documented)
	return b.Bytes(), err
}

func (c *call) exportPage(folder string, files map[string][]byte) int {
	fmt.Fprintln(c.stderr, "locksim: compressing the engine; this takes a minute")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for ending, data := range compressed(c.ctx, files[name]) {
			if ending != "" && strings.HasPrefix(name, manualFolder) { // small, and read seldom
				break
			}
			if c.ctx.Err() != nil {
				return exitInterrupted
			}
			file := filepath.Join(folder, filepath.FromSlash(name)+ending)
			err := os.MkdirAll(filepath.Dir(file), 0o755)
			if err == nil {
				err = os.WriteFile(file, data, 0o644)
			}
			if err != nil {
				return c.failures(err)
			}
		}
	}
	fmt.Fprintf(c.stdout, "%s in %s, those of the page also compressed (.br, .gz); any web server can serve them\n", counted(len(files), "file"), folder)
	return exitOK
}

// compressed yields a file as it is, and as servers can send it that look for compressed copies, with their endings. What is
// yielded after the context was done is cut short.
func compressed(ctx context.Context, data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !yield("", data) {
			return
		}
		var b bytes.Buffer
		small := gzip.NewWriter(&b)
		written(ctx, small, data)
		if !yield(".gz", slices.Clone(b.Bytes())) {
			return
		}
		b.Reset()
		written(ctx, brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24}), data)
		yield(".br", b.Bytes())
	}
}

// written compresses data, piece by piece, until the context is done. Writing into memory cannot fail.
func written(ctx context.Context, w io.WriteCloser, data []byte) {
	for piece := range slices.Chunk(data, 1<<18) {
		if ctx.Err() != nil {
			return
		}
		_, _ = w.Write(piece)
	}
	_ = w.Close()
}

// pagePolicy is the policy of the page's workers, which run the engine and load nothing else. The page itself has a stricter one.
const pagePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

func (c *call) servePage(o *playOptions, listener net.Listener, files map[string][]byte) int {
	began := time.Now()
	server := http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		data, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if name == "worker.js" {
			w.Header().Set("Content-Security-Policy", pagePolicy)
		}
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, began, bytes.NewReader(data))
	})}
	address := "http://" + listener.Addr().String() + "/"
	fmt.Fprintln(c.stdout, address)
	if c.env.answers != nil && !bool(o.noOpen) {
		openBrowser(address)
	}
	stop := context.AfterFunc(c.ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return c.failures(err)
	}
	return exitOK
}

// openBrowser opens an address as the system does. That it cannot is no failure: the address is printed.
func openBrowser(address string) {
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	cmd := exec.Command(program[0], append(program[1:], address)...)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
