package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/page"
	"github.com/locksim/locksim/reports/internal/timeline"
)

const fixtures = "../../../testdata/schedules"

// patience is how long a browser may take for anything; a busy machine is slow.
const patience = 2 * time.Minute

// browser is one Chromium for all tests; each test has a tab of its own, in a profile of its own.
var browser struct {
	once sync.Once
	ctx  context.Context
	err  error
	stop []context.CancelFunc
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(browser.stop) - 1; i >= 0; i-- {
		browser.stop[i]()
	}
	os.Exit(code)
}

func chromium(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium here (chromium, chromium-browser, google-chrome): pages cannot be opened")
	}
	browser.once.Do(func() {
		// Root may not use Chromium's sandbox; the pages are our own.
		alloc, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.Headless,
			chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true))
		ctx, quit := chromedp.NewContext(alloc)
		browser.ctx, browser.stop, browser.err = ctx, []context.CancelFunc{stop, quit}, chromedp.Do(ctx)
	})
	require.NoError(t, browser.err)
	return browser.ctx
}

// options are how a page is opened.
type options struct {
	hash      string
	width     int64 // 1280 if 0
	dark      bool
	scriptOff bool
	troubled  bool // the test looks at the trouble itself
}

// tab is a page in a browser.
type tab struct {
	*testing.T
	ctx     context.Context
	origins []string        // what it may ask for
	trouble func() []string // what the page has complained of
}

// open writes a page of schedules and opens it without a network.
func open(t *testing.T, schedules []timeline.Schedule, o options) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, page.Write(f, schedules))
	require.NoError(t, f.Close())
	return openFile(t, path, o)
}

func openFile(t *testing.T, path string, o options) *tab {
	t.Helper()
	return openAddress(t, "file://"+path, o)
}

// openAddress opens a page: one that a server of this test serves, or a file, which has no network.
func openAddress(t *testing.T, address string, o options) *tab {
	t.Helper()
	served := strings.HasPrefix(address, "http:")
	ctx, closeTab := chromedp.NewContext(chromium(t), chromedp.WithNewBrowserContext()) // each has a profile of its own, which is fresh
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, origins: []string{"file:///", "data:"}}
	if served {
		b.origins = []string{address, "blob:" + address, "data:"} // blob: what the page has loaded itself
	}
	b.listen()
	if !o.troubled {
		t.Cleanup(func() { require.Empty(t, b.trouble()) })
	}
	scheme := "light"
	if o.dark {
		scheme = "dark"
	}
	if o.width == 0 {
		o.width = 1280
	}
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(o.width, 1000),
		call(network.Enable, network.EnableParams{}),
		call(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Offline: !served, DownloadThroughput: -1, UploadThroughput: -1}},
		}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}),
		call(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}), // beside other tabs
		call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: o.scriptOff}),
		chromedp.Navigate(address+o.hash)))
	if !o.scriptOff {
		b.settle()
	}
	return b
}

// call is a command of the protocol as a step.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

// listen gathers what the page complains of, and what it asks the network for.
func (b *tab) listen() {
	var lock sync.Mutex
	var list []string
	add := func(text string) {
		lock.Lock()
		defer lock.Unlock()
		list = append(list, text)
	}
	b.trouble = func() []string {
		lock.Lock()
		defer lock.Unlock()
		return append([]string{}, list...)
	}
	require.NoError(b, chromedp.Listen(b.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += ": " + e.ExceptionDetails.Exception.Description
			}
			add("exception: " + text)
		case *runtime.EventConsoleAPICalled:
			add("console: " + string(e.Type))
		case *log.EventEntryAdded:
			add("log: " + e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !slices.ContainsFunc(b.origins, func(o string) bool { return strings.HasPrefix(url, o) }) {
				add("request: " + url)
			}
		case *network.EventLoadingFailed:
			add("failed: " + cmp.Or(string(e.BlockedReason), e.ErrorText))
		}
	}))
}

// eval returns what an expression of the page's script is.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b, err, expression)
	return value
}

// settle waits until what was asked for has been drawn.
func (b *tab) settle() {
	b.Helper()
	eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// do runs a script in the page, and waits for the drawing.
func (b *tab) do(script string) {
	b.Helper()
	eval[bool](b, "{"+script+"}; true")
	b.settle()
}

// press types keys.
func (b *tab) press(keys string) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, chromedp.KeyEvent(keys)))
	b.settle()
}

// resize changes the width of the window.
func (b *tab) resize(width int64) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 1000)))
	b.settle()
}

func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, "document.querySelector("+quoted(selector)+").textContent")
}

func (b *tab) count(selector string) int {
	b.Helper()
	return eval[int](b, "document.querySelectorAll("+quoted(selector)+").length")
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// played are the schedules of a file.
func played(t *testing.T, name string) []timeline.Schedule {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, name+".json"))
	require.NoError(t, err)
	var s timeline.Schedule
	require.NoError(t, json.Unmarshal(data, &s))
	return []timeline.Schedule{s}
}

func names(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}
