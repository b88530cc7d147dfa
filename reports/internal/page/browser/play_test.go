package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/clients"
	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/playground"
	"github.com/locksim/locksim/reports"
	"github.com/locksim/locksim/scenarios"
)

// site is a playground, which is built once for all tests.
var site struct {
	once  sync.Once
	files map[string][]byte
	err   error
	at    string // its address; it is served until the tests end
}

// play opens a playground, and waits until its engine has played the scenario.
func play(t *testing.T, o options) *tab {
	t.Helper()
	chromium(t)
	site.once.Do(func() {
		var page bytes.Buffer
		text, err := scenarios.Text(playground.Opens)
		if err == nil {
			err = playground.WritePage(&page, string(text), "", true)
		}
		if err == nil {
			site.files = map[string][]byte{"/": page.Bytes(), "/worker.js": reports.PlaygroundWorker()}
			site.files["/locksim.wasm"], site.files["/wasm_exec.js"], err = clients.BuildEngine(t.Context())
		}
		site.err = err
		site.at = httptest.NewServer(http.HandlerFunc(serve)).URL + "/"
	})
	require.NoError(t, site.err)
	b := openAddress(t, site.at, o)
	b.until(`play.answer && !working`)
	return b
}

func serve(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, map[string]string{"/": "index.html"}[r.URL.Path]+r.URL.Path, time.Time{}, bytes.NewReader(site.files[r.URL.Path]))
}

// until waits until something is true in the page.
func (b *tab) until(condition string) {
	b.Helper()
	eval[bool](b, `new Promise((done) => { const look = () => (`+condition+`) ? done(true) : setTimeout(look, 20); look(); })`)
	b.settle()
}

func TestAPlaygroundOpensOnSomethingBroken(t *testing.T) {
	b := play(t, options{})
	b.until(`live.warm`)
	start := 1000 * used(workers(t))
	t.Logf("something could be changed %.0f ms after the page was asked for; the engine was there after %.0f ms, and its worker used %.0f ms of a processor until then",
		eval[float64](b, `play.first`), eval[float64](b, `performance.now()`), start)
	if long.Enabled() {
		require.Less(t, start, 2000.0, "of a processor's time, from a cold start to the first answer")
	}
	require.Contains(t, b.text("#verdict"), "Two believed to hold the lock at once, and the resource was damaged.")
	require.NotZero(t, b.count("#sliders label"))
	require.Equal(t, "a believes, b believes, redis-1, storage", eval[string](b, `charts[0].rows.map((r) => r.lane.name).join(", ")`))
	require.Less(t, eval[float64](b, `document.querySelector("#chart-first").getBoundingClientRect().bottom`), 720.0, "of 800")
	require.True(t, eval[bool](b, `live.ask({ do: "play", text: opening.text, variant: opening.variant })
		.then(({ schedules }) => JSON.stringify(schedules) === JSON.stringify(JSON.parse($("data").textContent)))`),
		"what stands in the page before the engine is there is what the engine says")
	b.until(`document.querySelector("#studied").textContent !== ""`)
	require.Equal(t, 100, b.count("#seeds button"))
	require.Equal(t, 1, b.count("#seeds button[tabindex='0']"))
	require.Contains(t, b.text("#try"), "drag the handle  at the end of the pause of a to the left")
	b.do(`[...document.querySelectorAll("#try button")].find((x) => x.textContent === "fencing fenced-write").click()`)
	b.until(`document.querySelector("#verdict").textContent.includes("the resource stayed safe")`)
	require.Contains(t, b.text("#try"), "Mended: with fencing fenced-write")
	require.NotContains(t, b.text("#verdict p"), "the failure that the scenario shows")
	require.Equal(t, "✗ the resource was damaged · ✓ safe", b.text("#meanings"))
	require.Equal(t, "With fencing none: the resource was damaged", eval[string](b, `document.querySelector("#runs label").title`))
	require.Contains(t, b.text("#charts .hint"), "Click a lane with the right button to add a fault there.")
	b.do(`page.change({ run: page.schedule.runs[0] })`)
	for _, width := range []int64{400, 1280} {
		b.resize(width)
		for _, check := range []string{"nameless", "faint", "outside"} {
			require.Empty(t, b.find(check), "%s at %d", check, width)
		}
	}
	for id, role := range map[string]string{"verdict": "status", "play-says": "status", "words-say": "status"} {
		require.Equal(t, role, eval[string](b, `$("`+id+`").getAttribute("role")`))
	}
	if *pictures != "" {
		for _, width := range []int64{400, 800, 1440} {
			b.resize(width)
			image, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(*pictures, "play."+map[int64]string{400: "400", 800: "800", 1440: "1440"}[width]+".png"), image, 0o644))
		}
	}
}

// TestTheTasksFitTheRunThatIsShown says to make it safe only what damages the resource.
func TestTheTasksFitTheRunThatIsShown(t *testing.T) {
	b := play(t, options{})
	b.do(`page.change({ run: page.schedule.runs[1] })`)
	for _, x := range []struct{ pause, task string }{
		{"11.1s", "Mended: with fencing fenced-write"}, // safe, but only by 1.09s
		{"9.6s", "Make it safe: drag the handle  at the end of the pause of a to the left, and watch the verdict.Or let the resource check tokens: fencing fenced-read-write."},
		{"8s", "Break it: drag the handle  at the end of the pause of a to the right, and watch the verdict.Or let the engine search"},
	} {
		b.do(`change([{ path: "faults.gc.for", value: "` + x.pause + `" }])`)
		b.until(`!working && play.text.includes("` + x.pause + `") && $("studied").textContent !== ""`)
		require.Equal(t, "fenced-write", eval[string](b, `page.run.fencing`))
		require.True(t, strings.HasPrefix(b.text("#try"), x.task), "%s: %s", x.pause, b.text("#try"))
	}
	b.do(`change([{ path: "faults.gc.for", value: "15s" }, { path: "lock.algorithm", value: "redlock" }])`)
	b.until(`!working && page.run.verdicts.some((v) => v.found === "not-judged")`)
	require.True(t, strings.HasPrefix(b.text("#try"), "Mend it: drag the handle"), "without a token nobody knows whether the resource is safe: %s", b.text("#try"))
	require.Contains(t, b.text("#runs"), "? fenced-write")
	b.do(`openScenario("lease-overrun")`)
	b.until(`!working && play.answer.schedules[0].scenario === "lease-overrun"`)
	require.True(t, strings.HasPrefix(b.text("#try"), "Let the resource check tokens: "), "the only task: %s", b.text("#try"))
}

// dragged drags a grip by some pixels, in steps, as a pointer does, and lets go of it.
func (b *tab) dragged(grip string, by int) {
	b.Helper()
	eval[bool](b, `(async () => {
		const box = document.querySelector(`+quoted(grip)+`).getBoundingClientRect();
		const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, button: 0 };
		const turn = () => new Promise((done) => requestAnimationFrame(done));
		document.querySelector(`+quoted(grip)+`).dispatchEvent(new PointerEvent("pointerdown", at));
		for (let i = 1; i <= 10; i++) {
			window.dispatchEvent(new PointerEvent("pointermove", { ...at, clientX: at.clientX + (`+strconv.Itoa(by)+` * i) / 10 }));
			await turn();
		}
		window.dispatchEvent(new PointerEvent("pointerup", { ...at, clientX: at.clientX + `+strconv.Itoa(by)+` }));
		return true;
	})()`)
	b.until(`!working && !play.drag && play.undo.length > 0`)
}

func TestAPauseIsDraggedShorterUntilNothingIsViolated(t *testing.T) {
	b := play(t, options{})
	b.until(`$("studied").textContent !== ""`) // what is found later moves the picture
	b.dragged(".grip.edge", eval[int](b, `Math.round(charts[0].x(9.7e9) - charts[0].x(play.answer.faults[0].end))`))
	require.Contains(t, b.text("#verdict"), "Never did two believe to hold the lock at once.")
	require.Regexp(t, `for: 8(\.[0-9]+)?s`, eval[string](b, `$("text").value`), "of 15 s, in the text")
	require.Contains(t, eval[string](b, `$("text").value`), "story: >\n  Client a takes", "the rest of it stays")
	b.do(`$("undo").click()`)
	b.until(`!working`)
	require.Contains(t, b.text("#verdict"), "the resource was damaged")
	b.do(`$("redo").click()`)
	b.until(`!working`)
	require.Contains(t, b.text("#verdict"), "Never did two believe")
	b.dragged(".grip:not(.edge)", eval[int](b, `Math.round(charts[0].x(2.1e9) - charts[0].x(1e9))`))
	require.Regexp(t, `at: 2`, eval[string](b, `$("text").value`), "it was paused at its write, a second after the start")
}

// TestAPauseIsDraggedLongerThanThePicture where nothing but stretched time is left of it, and where it ends.
func TestAPauseIsDraggedLongerThanThePicture(t *testing.T) {
	b := play(t, options{})
	pause := func() float64 {
		return eval[float64](b, `play.answer.controls.find((c) => c.path === "faults.gc.for").value / 1e9`)
	}
	b.dragged(".grip.edge", 100)
	require.Greater(t, pause(), 16.0, "of 15 s")
	require.Less(t, pause(), 20.0)
	b.do(`change([{ path: "faults.gc.for", number: 1e6 }])`)
	b.until(`!working && play.undo.length === 2`)
	require.Contains(t, b.text("#verdict"), "Never did two believe")
	b.dragged(".grip.edge", eval[int](b, `Math.round(charts[0].right - charts[0].x(play.answer.faults[0].end))`))
	require.Contains(t, b.text("#verdict"), "the resource was damaged", "one drag along the picture: %v s", pause())
}

// TestTheBoundaryInThePageIsThatOfMinimize tries the pause just below and just at the boundary that is told.
func TestTheBoundaryInThePageIsThatOfMinimize(t *testing.T) {
	b := play(t, options{})
	b.until(`$("studied").textContent !== ""`)
	require.Contains(t, b.text("#studied"), "For the failure with fencing none, the pause of a must be about 9.02s or more; with 9.01s the resource stays safe.")
	for number, damaged := range map[string]bool{"9020e6": true, "9010e6": false} {
		b.do(`change([{ path: "faults.gc.for", number: ` + number + ` }])`)
		b.until(`!working && play.undo.length > 0`)
		require.Equal(t, damaged, strings.Contains(b.text("#verdict"), "the resource was damaged"), number)
	}
}

func TestALinkHoldsTheScenario(t *testing.T) {
	b := play(t, options{})
	b.do(`change([{ path: "lock.ttl", number: 12e9 }, { path: "seed", value: "77" }])`)
	b.until(`!working && play.undo.length > 0 && new URLSearchParams(location.hash.slice(1)).get("play") === play.packed`)
	hash, digest := eval[string](b, `location.hash`), eval[string](b, `play.answer.digests[0]`)
	var native playground.Engine
	request, err := json.Marshal(playground.Request{Do: "play", Text: eval[string](b, `play.text`)})
	require.NoError(t, err)
	var answer playground.Answer
	require.NoError(t, json.Unmarshal(native.Answer(request), &answer))
	require.Equal(t, answer.Digests[0], digest, "the engine outside of a browser")
	other := play(t, options{hash: hash})
	require.Equal(t, digest, eval[string](other, `play.answer.digests[0]`))
	require.Equal(t, eval[string](b, `play.text`), eval[string](other, `play.text`))

	embedded := play(t, options{hash: hash + "&embed=yes"})
	require.Equal(t, digest, eval[string](embedded, `play.answer.digests[0]`))
	require.Equal(t, "none", eval[string](embedded, `getComputedStyle($("bench")).display`))
	require.NotContains(t, eval[string](embedded, `$("whole").href`), "embed=yes")
	require.Contains(t, eval[string](embedded, `$("whole").href`), "play=", "before anybody points at it, for the Tab key")
	embedded.do(`$("whole").dispatchEvent(new Event("focus"))`)
	require.NotContains(t, eval[string](embedded, `$("whole").href`), "embed=yes")
	require.Contains(t, eval[string](embedded, `$("whole").href`), "play=")

	// Until the engine is there, nothing is told of the scenario that the page came with.
	loaded := make(chan struct{})
	slow := slowly(loaded)
	defer slow.Close()
	b.do(`openScenario("chubby-jeopardy")`)
	b.until(`!working && play.answer.schedules[0].scenario === "chubby-jeopardy" && new URLSearchParams(location.hash.slice(1)).get("play") === play.packed`)
	waiting := openAddress(t, slow.URL+"/", options{hash: eval[string](b, `location.hash`)})
	waiting.until(`$("title").textContent.includes("in jeopardy")`)
	require.Equal(t, "loading", eval[string](waiting, `document.body.className`))
	require.Empty(t, waiting.text("#verdict")+waiting.text("#story")+waiting.text("#scenario"))
	require.Equal(t, "Fencing", waiting.text("#runs"))
	require.Contains(t, eval[string](waiting, `getComputedStyle($("title"), "::after").content`), "loading the engine")
	close(loaded)
	waiting.until(`play.answer && !working`)
	require.Equal(t, b.text("#verdict"), waiting.text("#verdict"))
	require.Empty(t, eval[string](waiting, `document.body.className`))

	damaged := play(t, options{})
	damaged.do(`location.hash = "#play=AAAA"`)
	damaged.until(`$("play-says").textContent.includes("damaged")`)
}

// TestAPlaygroundCanBeChangedBeforeItsEngineIsThere shortens a pause while the engine is being loaded.
func TestAPlaygroundCanBeChangedBeforeItsEngineIsThere(t *testing.T) {
	play(t, options{})
	loaded := make(chan struct{})
	slow := slowly(loaded)
	defer slow.Close()
	b := openAddress(t, slow.URL+"/", options{})
	require.NotZero(t, b.count("#sliders label"))
	require.Contains(t, b.text("#play-says"), "the command line shows the same run")
	broken := b.text("#verdict")
	b.do(`change([{ path: "faults.gc.for", number: 2e9 }])`)
	b.until(`$("play-says").textContent.includes("still being loaded")`)
	require.Equal(t, broken, b.text("#verdict"))
	close(loaded)
	b.until(`live.warm && !working && play.text.includes("for: 2s")`)
	require.Contains(t, b.text("#verdict"), "Never did two believe")
	require.Contains(t, b.text("#play-says"), "the command line shows the same run")
}

// slowly serves the site, the engine when a channel is closed.
func slowly(loaded <-chan struct{}) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/locksim.wasm" {
			<-loaded
		}
		serve(w, r)
	}))
}

func TestAPlaygroundNeedsNoNetworkOnceItIsThere(t *testing.T) {
	b := play(t, options{})
	b.until(`behind.ready`)
	require.NoError(t, chromedp.Do(b.ctx, call(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}},
	})))
	b.do(`for (const engine of [live, behind]) engine.restart("as if it had taken too long")`)
	b.until(`live.ready && behind.ready`)
	b.do(`openGallery()`)
	b.until(`$("entries").childElementCount > 100`)
	require.Equal(t, len(scenarios.Names()), b.count("#entries [data-name]"))
	b.until(`document.querySelectorAll("#entries img[src^=data]").length > 0`)
	b.do(`$("gallery-search").value = "no such scenario"; findInGallery()`)
	require.False(t, eval[bool](b, `$("gallery-none").hidden`))
	b.do(`$("gallery").close(); openGallery()`)
	require.True(t, eval[bool](b, `$("gallery-none").hidden && $("gallery-search").value === ""`))
	require.Equal(t, len(scenarios.Names()), b.count("#entries [data-name]:not([hidden])"))
	for i := range eval[int](b, `argued.length`) {
		found := eval[int](b, `($("arguments").children[`+strconv.Itoa(i)+`].click(), document.querySelectorAll("#entries [data-name]:not([hidden])").length)`)
		require.NotZero(t, found)
		require.Less(t, found, 60)
	}
	b.do(`document.querySelector("#entries [data-name=failover-lost-key] button").click()`)
	b.until(`!working && play.answer.schedules[0].scenario === "failover-lost-key"`)
	require.Contains(t, b.text("#title"), "The master dies before its replica has heard of the lock")
	b.do(`$("variant").value = "cut-off"; $("variant").dispatchEvent(new Event("change"))`)
	b.until(`!working && play.answer.variant === "cut-off"`)
	require.Contains(t, b.text("#heading"), "cut-off")
	b.do(`openScenario("etcd-lease-expired")`)
	b.until(`!working && play.answer.schedules[0].scenario === "etcd-lease-expired"`)
	require.True(t, eval[bool](b, `$("variant-field").hidden`), "those of the other scenario are gone")
}

func TestALaneOffersTheFaultsOfItsNode(t *testing.T) {
	b := play(t, options{})
	b.do(`{ const r = charts[0].svg.getBoundingClientRect(), row = charts[0].row.get("b believes");
		charts[0].svg.dispatchEvent(new MouseEvent("contextmenu", { clientX: r.x + charts[0].x(5e9), clientY: r.y + row.mid, cancelable: true })); }`)
	b.until(`$("drop").open && $("drops").childElementCount > 3`)
	require.Equal(t, "b", eval[string](b, `$("drop-node").value`))
	b.do(`[...$("drops").children].find((x) => x.textContent.startsWith("pause")).click()`)
	b.until(`!working && play.undo.length === 1`)
	require.Regexp(t, `\n  - \{at: (5|4\.9|5\.1)[0-9]*s, pause: b, for: 5s\}\n`, eval[string](b, `$("text").value`))
}

func TestWhatTakesTooLongIsStopped(t *testing.T) {
	b := play(t, options{})
	text, err := scenarios.Text(playground.Opens)
	require.NoError(t, err)
	long := strings.NewReplacer("ttl: 10s", "ttl: 100h", "retry: 100ms", "retry: 1ms", "for: 15s", "for: 50h",
		"expect:", "bounds: {steps: 1000000000}\nexpect:").Replace(string(text))
	b.do(`commit(` + quoted(long) + `)`)
	b.until(`$("play-says").textContent.includes("took too long")`)
	b.do(`openScenario("lease-overrun")`)
	b.until(`!working && play.answer.schedules[0].scenario === "lease-overrun"`)

	// An engine that ends, since a lock has panicked, is told of and started again.
	b.do(`commit(play.text); live.hears({ dead: "panic: in a lock" })`)
	b.until(`!working && $("play-says").textContent === "This scenario could not be played: panic: in a lock."`)
	require.Equal(t, "outdated", eval[string](b, `document.body.className`))
	b.do(`commit(play.text)`)
	b.until(`!working && document.body.className === "" && $("play-says").textContent.startsWith("Digest ")`)
}

// TestHostileTextIsText opens a scenario whose title would be markup.
func TestHostileTextIsTextInAPlayground(t *testing.T) {
	b := play(t, options{})
	text, err := scenarios.Text(playground.Opens)
	require.NoError(t, err)
	attack := `'</script><img src=x onerror="document.title=1"><script>document.title=2</script>'`
	b.do(`commit(` + quoted(strings.Replace(string(text), "A paused client writes after its lease has ended, and a fencing token stops it", attack, 1)) + `)`)
	b.until(`!working && $("title").textContent.includes("onerror")`)
	require.NotContains(t, []string{"1", "2"}, eval[string](b, `document.title`))
	require.Zero(t, b.count("img[src=x]"))
}

// TestEveryEntryOfTheGalleryOpens with the digests that the engine has outside of a browser, and with nothing that lies outside of the page.
func TestEveryEntryOfTheGalleryOpens(t *testing.T) {
	b := play(t, options{})
	b.resize(800)
	all, err := scenarios.All()
	require.NoError(t, err)
	var engine playground.Engine
	for i, s := range all {
		if i%long.Every(10, 1) != 0 {
			continue
		}
		b.do(`openScenario("` + s.Name + `")`)
		b.until(`!working && play.answer.schedules?.[0].scenario === "` + s.Name + `"`)
		var answer playground.Answer
		request, err := json.Marshal(playground.Request{Do: "play", Text: eval[string](b, `play.text`), Variant: eval[string](b, `play.variant`), Outline: true})
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(engine.Answer(request), &answer))
		require.Equal(t, answer.Digests, eval[[]string](b, `play.answer.digests`), s.Name)
		require.NotEmpty(t, b.text("#verdict"), s.Name)
		require.Empty(t, b.find("outside"), s.Name)
	}
}

// edits is how many random edits a page has to bear.
func edits() int { return long.Pick(50, 100, 1_000) }

func TestNoEditBreaksThePage(t *testing.T) {
	b := play(t, options{})
	eval[bool](b, `(async () => {
		let seed = 1; // of the choices
		const draw = (n) => (seed = (seed * 48271) % 2147483647) % n;
		const one = (list) => list[draw(list.length)];
		const idle = async () => { while (working) await new Promise((done) => setTimeout(done, 1)); };
		for (let i = 0; i < `+strconv.Itoa(edits())+`; i++) {
			const a = play.answer;
			const kinds = [
				() => a.controls.length && change([{ path: one(a.controls).path, number: draw(40) * 5e8 + 1e6 }]),
				() => { const c = one(a.choices); return change([{ path: c.path, value: one(c.options) }]); },
				() => a.faults?.length && change([{ path: "faults." + one(a.faults).name, value: "null" }]),
				() => change([{ path: "faults.+", value: "{at: " + draw(20) + "s, pause: " + one(a.nodes).name + ", for: " + (1 + draw(9)) + "s}" }]),
				() => addClient(),
				() => { const c = one(a.choices); placeBeside(c.path, one(c.options)); },
				() => back("undo", "redo"),
				() => back("redo", "undo"),
				() => { $("text").value = play.text.slice(0, draw(play.text.length)); $("text").dispatchEvent(new Event("input")); },
				() => draw(5) || openScenario(one(["zk-gc-pause", "redlock-clock-jump", "etcd-done-too-late", "lease-overrun"])),
			];
			await one(kinds)();
			await idle();
		}
		return true;
	})()`)
	b.do(`openScenario("fencing-33-34")`)
	b.until(`!working && play.answer.schedules[0].scenario === "fencing-33-34" && !play.drag`)
	require.Contains(t, b.text("#verdict"), "the resource was damaged")
}

// mostOfAFrame is what half of the frames of a drag may cost at most, in milliseconds of a processor's time: three times as much as there
// is between two pictures of a screen. The aim is 16, which is logged and not demanded: one build has taken 12 and 20 on one machine.
const mostOfAFrame = 3 * 16

// TestAFrameWhileDragging has the picture follow a number on a still axis, and measures how much of a processor's time a frame takes, of
// the engine's worker and of the page's thread: from an edit to the picture of what follows, layout and painting included. Only the long
// form, whose frames are as many as those of a drag of four seconds, fails for it: the first forty cost up to twice as much as those that
// follow, since the browser compiles what it is asked often a second time.
func TestAFrameWhileDragging(t *testing.T) {
	b := play(t, options{})
	require.NoError(t, chromedp.Do(b.ctx, call(performance.Enable, performance.EnableParams{
		TimeDomain: performance.EnableTimeDomainThreadTicks,
	})))
	count := long.Pick(10, 10, 240)
	for _, name := range []string{"fencing-33-34", "lease-overrun", "failover-lost-key", "zk-gc-pause", "redlock-clock-jump"} {
		b.do(`openScenario("` + name + `")`)
		b.until(`!working && play.answer.schedules[0].scenario === "` + name + `" && $("seeds").childElementCount === 100 && play.warm === warm`)
		b.do(`clearTimeout(later); behind.restart("frames are measured");
			window.drawn = { c: play.answer.controls[0], text: play.text, axis: page.schedule.axis, frame: async (i) => {
				await change([{ path: drawn.c.path, number: drawn.c.value + i * 1e7 }], drawn);
				while (working) await new Promise((done) => setTimeout(done));
				await new Promise((done) => requestAnimationFrame(() => setTimeout(done))); // until it is painted
				return play.answer.text;
			} };`)
		var frames, engines []float64
		threads := workers(t)
		page, engine := b.worked(), used(threads)
		for i := range count {
			require.NotEmpty(t, eval[string](b, `drawn.frame(`+strconv.Itoa(i)+`)`))
			pageNow, engineNow := b.worked(), used(threads)
			frames, engines = append(frames, 1000*(pageNow-page+engineNow-engine)), append(engines, 1000*(engineNow-engine))
			page, engine = pageNow, engineNow
		}
		require.True(t, eval[bool](b, `page.schedule.axis === drawn.axis`), "the axis has moved")
		require.Equal(t, float64(count-1)*1e7, eval[float64](b, `(async () => (await live.ask({ do: "play", text: play.answer.text, variant: play.variant })).controls[0].value - drawn.c.value)()`))
		b.do(`commit(drawn.text)`)
		slices.Sort(frames)
		slices.Sort(engines)
		t.Logf("%s: half of the frames cost at most %.1f ms, nine of ten %.1f ms; half of the engine's answers %.1f ms", name, frames[count/2], frames[count*9/10], engines[count/2])
		if long.Enabled() {
			require.LessOrEqual(t, frames[count/2], float64(mostOfAFrame), name)
		}
	}
}

// workers are where the system counts what a processor's time pages' workers have used; none where it does not.
func workers(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/comm")
	require.NoError(t, err)
	for _, file := range files {
		if name, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(name)) == "DedicatedWorker" {
			list = append(list, filepath.Join(filepath.Dir(file), "schedstat"))
		}
	}
	return list
}

// used is how many seconds of a processor's time that is in sum.
func used(workers []string) (sum float64) {
	for _, file := range workers {
		var ns float64
		if stat, err := os.ReadFile(file); err == nil {
			if _, err := fmt.Sscan(string(stat), &ns); err == nil {
				sum += ns / 1e9
			}
		}
	}
	return sum
}

func TestAnotherLeaseStandsBesideTheRun(t *testing.T) {
	b := play(t, options{})
	b.do(`$("twin").value = "lock.ttl="; $("twin").dispatchEvent(new Event("change"))`)
	b.until(`!working && page.twin?.beside`)
	require.Contains(t, b.text("#verdict"), "With lease 20s: Never did two believe")
	require.Equal(t, "20s", eval[string](b, `$("beside-value").value`))
	b.do(`change([{ path: "faults.gc.for", number: 25e9 }], { axis: page.schedule.axis })`)
	b.until(`!working && page.twin.tone !== "green"`)
	require.Contains(t, b.text("#verdict"), "With lease 20s: Two believed")
	b.do(`commit(play.text)`)
	b.until(`!working && location.hash.includes("with=lock.ttl%3D20s")`)
	require.Equal(t, "20s", eval[string](play(t, options{hash: eval[string](b, `location.hash`)}), `play.beside.value`))
	b.do(`$("twin").value = "styles=careful"; $("twin").dispatchEvent(new Event("change"))`)
	b.until(`!working && page.twin.beside === "client style careful"`)
}

// TestTheTextIsCompletedAndMarked writes by keyboard.
func TestTheTextIsCompletedAndMarked(t *testing.T) {
	b := play(t, options{})
	b.do(`const at = play.text.indexOf("faults:"); $("text").focus(); $("text").setSelectionRange(at, at)`)
	b.press("lo")
	b.until(`!$("words").hidden`)
	require.Equal(t, "load: ", eval[string](b, `$("words").firstChild.firstChild.textContent`))
	require.Contains(t, b.text("#words-say"), "to choose")
	b.press(kb.ArrowDown + kb.ArrowDown)
	require.Equal(t, "word-1", eval[string](b, `$("text").getAttribute("aria-activedescendant")`))
	b.press(kb.Tab)
	b.until(`$("words").hidden && $("marks").childElementCount > 0`)
	require.Contains(t, eval[string](b, `$("text").value`), "\nlock: faults:")
	require.Equal(t, "true", eval[string](b, `$("text").getAttribute("aria-invalid")`))
	b.do(`$("undo").click(); $("text").value = play.text.replace("ttl: 10s", "ttl: soon"); $("text").dispatchEvent(new Event("input"))`)
	b.until(`$("problems").textContent.includes("lock.ttl")`)
	require.Equal(t, 4, eval[int](b, `Math.round($("marks").firstChild.offsetWidth / 8)`), "the word soon")
	require.Contains(t, b.text("#play-says"), "What is shown is of the last text without mistakes.")
	require.Equal(t, "outdated", eval[string](b, `document.body.className`))
	b.do(`dropping("a")`)
	b.until(`$("drops").textContent !== ""`)
	require.Contains(t, b.text("#drops"), "The text has a mistake.", "why no fault is listed")
	b.do(`$("drop").close(); commit(opening.text)`)
	b.until(`!working && document.body.className === ""`)
}

// TestAMistakeInABoxIsSaidAtTheBox while the text and the verdict stay what they were.
func TestAMistakeInABoxIsSaidAtTheBox(t *testing.T) {
	b := play(t, options{})
	for _, box := range []string{"#sliders input[type=text]", "#seed"} {
		field := `document.querySelector("` + box + `")`
		b.do(field + `.value = "soon"; ` + field + `.dispatchEvent(new Event("change"))`)
		b.until(field + `.getAttribute("aria-invalid") === "true"`)
		require.Contains(t, eval[string](b, field+`.closest("label").querySelector(".wrong").textContent`), "; want a", box)
		require.Equal(t, 0, eval[int](b, `play.undo.length`))
		require.Empty(t, eval[string](b, `document.body.className`))
	}
	b.do(`$("seed").value = "7"; $("seed").dispatchEvent(new Event("change"))`)
	b.until(`!working && play.answer.seed === "7"`)
	require.Zero(t, b.count(".wrong"))
	require.Zero(t, b.count("#play [aria-invalid=true], #bench [aria-invalid=true]"))
}

func TestAViolationIsFoundInThePage(t *testing.T) {
	b := play(t, options{})
	b.do(`change([{ path: "faults.gc", value: "null" }])`)
	b.until(`!working && play.undo.length === 1`)
	require.NotContains(t, b.text("#verdict"), "Two believed")
	b.do(`window.said = []; new MutationObserver(() => said.push($("play-says").textContent)).observe($("play-says"), { childList: true });
		$("find").click()`)
	b.until(`!working && !play.working && play.undo.length === 2`)
	require.Regexp(t, `Looking for a violation … [1-9]\d* runs so far`, eval[string](b, `said.join("\n")`))
	require.Contains(t, b.text("#verdict"), "Two believed to hold the lock at once")
	require.Equal(t, 3, b.count("#runs input"), "the fencing modes stay")
	require.Contains(t, b.text("#story"), "The story of fencing-33-34, from which this scenario was made:Client a takes the lock")
	b.do(`const more = document.querySelector("#runs select"); more.value = "compare-and-set"; more.dispatchEvent(new Event("change"))`)
	b.until(`!working && page.run.fencing === "compare-and-set"`)
	require.Equal(t, 4, b.count("#runs input"))
}

// TestThePictureIsOnTheFirstScreen of a phone, below the verdict, also for the Tab key.
func TestThePictureIsOnTheFirstScreen(t *testing.T) {
	b := play(t, options{width: 400})
	require.Less(t, eval[int](b, `Math.round($("chart-first").getBoundingClientRect().bottom + scrollY)`), 850)
	require.Equal(t, "charts", eval[string](b, `$("verdict").nextElementSibling.id`))
	b.resize(1280)
	require.Equal(t, "charts", eval[string](b, `$("tools").nextElementSibling.id`))
	require.Equal(t, "story", eval[string](b, `$("verdict").previousElementSibling.id`))
}

// TestASlideHasTheLanesThatAreShown of the run that is shown.
func TestASlideHasTheLanesThatAreShown(t *testing.T) {
	b := play(t, options{})
	b.do(`page.change({ run: page.schedule.runs[1], hidden: new Set(["redis-1"]) });
		save = (name, href) => (window.saved = [name, decodeURIComponent(href)]); sharing()`)
	b.until(`$("sharing").open`)
	b.do(`$("slide-svg").click()`)
	b.until(`window.saved`)
	saved := eval[[]string](b, `window.saved`)
	require.Equal(t, "fencing-33-34.svg", saved[0])
	require.Contains(t, saved[1], ">storage<")
	require.NotContains(t, saved[1], ">redis-1<")
	require.NotContains(t, saved[1], "the resource was damaged", "with fencing nothing is")
	b.do(`delete window.saved; $("picture-png").click()`)
	b.until(`window.saved`)
	require.Equal(t, "fencing-33-34.png", eval[string](b, `window.saved[0]`))
	require.Contains(t, eval[string](b, `window.saved[1].slice(0, 30)`), "data:image/png;base64,")
}

// TestSlidersSayTheirEnds with units, and the picture where its time is stretched.
func TestSlidersSayTheirEnds(t *testing.T) {
	b := play(t, options{})
	require.Equal(t, "1ms40s", b.text("#sliders .ends"))
	put := func(place int, until string) {
		b.do(`const r = document.querySelector("#sliders input[type=range]"); r.value = ` + strconv.Itoa(place) + `;
			for (const name of ["input", "change"]) r.dispatchEvent(new Event(name))`)
		b.until(`!working && !play.drag && play.text.includes("ttl: ` + until + `")`)
	}
	put(700, "20s") // 19.6 s, in round numbers
	require.Equal(t, "1ms40s", b.text("#sliders .ends"), "they stay")
	require.InDelta(t, 700, eval[int](b, `Number(document.querySelector("#sliders input[type=range]").value)`), 10)
	put(1000, "40s")
	require.Equal(t, "1ms160s", b.text("#sliders .ends"), "more can be chosen")
	require.Contains(t, b.text("#legend"), "time is stretched")
	require.NotZero(t, b.count("#chart-first .stretched"))
	b.do(`page.change({ kind: "true" })`)
	require.NotContains(t, b.text("#legend"), "time is stretched")
	require.Zero(t, b.count("#chart-first .stretched"))
}
