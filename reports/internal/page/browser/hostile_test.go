package browser

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/timeline"
)

// attack is what a scenario's author could write into any text.
const attack = `</script></style></template></title><img src=x onerror="window.attacked=1">` +
	`<script>window.attacked=2</script><svg onload="window.attacked=3"><a href="javascript:window.attacked=4">'"` +
	"`${window.attacked=5}`" + `{{.}}<!--` + "\u2028"

// hostile is a schedule with the attack in every text that does not choose how something looks.
func hostile(t *testing.T) []timeline.Schedule {
	t.Helper()
	data, err := json.Marshal(played(t, "fencing-33-34"))
	require.NoError(t, err)
	var all any
	require.NoError(t, json.Unmarshal(data, &all))
	chosen := map[string]bool{"schema": true, "kind": true, "tone": true, "sign": true, "ends": true}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				if !chosen[k] {
					v[k] = walk(x)
				}
			}
		case []any:
			for i, x := range v {
				v[i] = walk(x)
			}
		case string:
			return v + attack
		}
		return v
	}
	data, err = json.Marshal(walk(all))
	require.NoError(t, err)
	var s []timeline.Schedule
	require.NoError(t, json.Unmarshal(data, &s))
	return s
}

func TestTextsOfAScenarioDoNotRun(t *testing.T) {
	t.Parallel()
	s := hostile(t)
	for _, off := range []bool{false, true} {
		b := open(t, s, options{scriptOff: off})
		if off {
			require.Zero(t, eval[int](b, `document.images.length`))
			continue
		}
		b.press("jncm?")
		b.do(`document.getElementById("help").close(); page.change({ query: "onerror" })`)
		require.True(t, eval[bool](b, `window.attacked === undefined`))
		require.Equal(t, 2, b.count("script"))
		require.Zero(t, eval[int](b, `document.images.length + document.links.length`))
		require.Equal(t, s[0].Title, b.text("h1"), "it is shown as it is")
		require.Empty(t, eval[[]string](b, `[...document.querySelectorAll("*")].flatMap((n) => n.getAttributeNames()).filter((a) =>
			a.startsWith("on"))`))
	}
}

// TestThePolicyStopsWhatIsInjected shows the second line of defence: even markup that got into the page would not run.
func TestThePolicyStopsWhatIsInjected(t *testing.T) {
	t.Parallel()
	b := open(t, played(t, "fencing-33-34"), options{troubled: true})
	b.do(`document.body.insertAdjacentHTML("beforeend", '<img src="https://locksim.invalid/x" onerror="window.attacked=1">' +
			'<a id="bad" href="javascript:window.attacked=2">x</a>');
		document.getElementById("bad").click();
		const script = document.createElement("script");
		script.textContent = "window.attacked=3";
		document.body.append(script)`)
	b.settle()
	require.True(t, eval[bool](b, `window.attacked === undefined`))
	require.Contains(t, b.trouble(), "failed: "+string(network.BlockedReasonCsp), "the picture was not even asked for")
}

func TestWithoutScriptsThePictureIsThere(t *testing.T) {
	t.Parallel()
	s := played(t, "fencing-33-34")
	b := open(t, s, options{scriptOff: true})
	require.Equal(t, s[0].Title, b.text("h1"))
	text := eval[string](b, `document.getElementById("static").shadowRoot.textContent`)
	require.Contains(t, text, "a believes")
	picture := `document.getElementById("static").shadowRoot.querySelector("svg")`
	require.Greater(t, eval[float64](b, picture+`.getBoundingClientRect().height`), 300.0)
}
