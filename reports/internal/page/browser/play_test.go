package browser

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// site is a playground, which is built once for all tests.
var site struct {
	once  sync.Once
	files map[string][]byte
	err   error
}

// play opens a playground, and waits until its engine has played the scenario.
func play(t *testing.T, o options) *tab {
	t.Helper()
	chromium(t)
	site.once.Do(func() {
		var page bytes.Buffer
		text, err := scenarios.Text(playground.Opens)
		if err == nil {
			err = playground.WritePage(&page, string(text), "")
		}
		if err == nil {
			site.files = map[string][]byte{"/": page.Bytes(), "/worker.js": reports.PlaygroundWorker()}
			site.files["/locksim.wasm"], site.files["/wasm_exec.js"], err = clients.BuildEngine(t.Context())
		}
		site.err = err
	})
	require.NoError(t, site.err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, map[string]string{"/": "index.html"}[r.URL.Path]+r.URL.Path, time.Time{}, bytes.NewReader(site.files[r.URL.Path]))
	}))
	t.Cleanup(server.Close)
	b := openAddress(t, server.URL+"/", o)
	b.until(`play.answer && !working`)
	return b
}

// until waits until something is true in the page.
func (b *tab) until(condition string) {
	b.Helper()
	eval[bool](b, `new Promise((done) => { const look = () => (`+condition+`) ? done(true) : setTimeout(look, 20); look(); })`)
	b.settle()
}

func TestAPlaygroundOpensOnSomethingBroken(t *testing.T) {
	b := play(t, options{})
	require.Contains(t, b.text("#verdict"), "Two believed to hold the lock at once, and the resource was damaged.")
	require.NotZero(t, b.count("#sliders label"))
	b.until(`document.querySelector("#studied").textContent !== ""`)
	require.Equal(t, 100, b.count("#seeds button"))
	if *pictures != "" {
		for _, width := range []int64{400, 800, 1440} {
			b.resize(width)
			image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(*pictures, "play."+map[int64]string{400: "400", 800: "800", 1440: "1440"}[width]+".png"), image, 0o644))
		}
	}
}
