package history_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/trace"
)

func drawInstant(t *rapid.T, name string) trace.Instant {
	return rapid.OneOf(
		rapid.SampledFrom([]trace.Instant{0, 1, trace.Never, trace.Never - 1, 3_600_000_000_000}),
		rapid.Map(rapid.Int64Range(0, math.MaxInt64), func(n int64) trace.Instant { return trace.Instant(n) }),
		rapid.Map(rapid.Int64Range(0, 100_000), func(ms int64) trace.Instant { return trace.Instant(ms * 1_000_000) }),
	).Draw(t, name)
}

func drawText(t *rapid.T, name string) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", "redis-1", "pause a", `a="b`, "#", "x=y", "never", "\xff", "\u00a0", "tab\t", "line\n"}),
		rapid.String(),
	).Draw(t, name)
}

func drawEnum[E ~uint8](t *rapid.T, name string, last E) E {
	return E(rapid.Uint8Range(0, uint8(last)).Draw(t, name))
}

func drawList[T any](t *rapid.T, name string, draw func(*rapid.T) T) []T {
	return rapid.SliceOfN(rapid.Custom(draw), 0, 3).Draw(t, name)
}

func drawHistory(t *rapid.T) *history.History {
	flag := func(t *rapid.T, name string) bool { return rapid.Bool().Draw(t, name) }
	number := rapid.Uint64()
	h := &history.History{
		Fencing: drawEnum(t, "fencing", history.CompareAndSet), Registers: rapid.IntRange(1, 9).Draw(t, "registers"),
		HasAuthority: flag(t, "authority"), HasTokens: flag(t, "tokens"), HasPrograms: flag(t, "programs"), Logged: flag(t, "logged"), End: drawInstant(t, "end"),
		Bound: drawText(t, "bound"), Quiescent: flag(t, "quiescent"),
		Keeps: flag(t, "keeps"), Blocks: rapid.IntRange(0, 9).Draw(t, "blocks"),
	}
	h.Acquisitions = drawList(t, "acquisitions", func(t *rapid.T) history.Acquisition {
		a := history.Acquisition{
			Client: drawText(t, "client"), Task: rapid.IntRange(0, 3).Draw(t, "task"),
			Style: drawEnum(t, "style", history.Careful), Invoked: drawInstant(t, "invoked"),
			Returned: drawInstant(t, "returned"), Outcome: drawEnum(t, "outcome", history.Refused),
			Said:  drawText(t, "said"),
			Value: drawText(t, "value"), Token: number.Draw(t, "token"), HasDeadline: flag(t, "has deadline"),
			Deadline: trace.Never, CanLearn: flag(t, "learns"), Told: flag(t, "told"), Unkept: flag(t, "unkept"), Late: flag(t, "late"), Lease: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "lease")),
			Uncertainty: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "uncertainty")), Unasked: flag(t, "unasked"),
			Unended: flag(t, "unended"), Vague: flag(t, "vague"), Seen: drawInstant(t, "seen"), Latest: drawInstant(t, "latest"),
			Noticed:  drawInstant(t, "noticed"),
			Unlocked: drawInstant(t, "unlocked"), Crashed: drawInstant(t, "crashed"),
			Released: drawInstant(t, "released"), Release: drawEnum(t, "release", history.Refused),
		}
		if a.HasDeadline {
			a.Deadline = drawInstant(t, "deadline")
		}
		return a
	})
	for i := range h.Acquisitions {
		h.Acquisitions[i].ID = history.ID(i + 1)
	}
	drawID := func(t *rapid.T, least int) history.ID {
		return history.ID(rapid.IntRange(least, len(h.Acquisitions)).Draw(t, "id"))
	}
	h.Grants = drawList(t, "grants", func(t *rapid.T) history.Grant {
		return history.Grant{
			Acquisition: drawID(t, 0), Client: drawText(t, "client"), From: drawInstant(t, "from"), To: drawInstant(t, "to"),
			Ended: drawEnum(t, "ended", history.BySessionLoss), Token: number.Draw(t, "token"),
			Outlived: flag(t, "outlived"),
		}
	})
	h.Copies = drawList(t, "copies", func(t *rapid.T) history.Copy {
		return history.Copy{
			Node: drawText(t, "node"), Acquisition: drawID(t, 0), Client: drawText(t, "client"), From: drawInstant(t, "from"),
			To: drawInstant(t, "to"), Expires: drawInstant(t, "expires"), Gone: drawEnum(t, "gone", history.Evicted),
		}
	})
	h.Asks = drawList(t, "asks", func(t *rapid.T) history.Ask {
		return history.Ask{
			Acquisition: drawID(t, 0), Client: drawText(t, "client"), Node: drawText(t, "node"), At: drawInstant(t, "at"),
			Granted: flag(t, "granted"),
		}
	})
	h.Removals = drawList(t, "removals", func(t *rapid.T) history.Removal {
		return history.Removal{
			By: drawID(t, 0), Client: drawText(t, "client"), Node: drawText(t, "node"), At: drawInstant(t, "at"),
			Stale: flag(t, "stale"), Ended: drawID(t, 0), Again: flag(t, "again"), Shortened: flag(t, "shortened"),
		}
	})
	if len(h.Acquisitions) > 0 {
		h.Accesses = drawList(t, "accesses", func(t *rapid.T) history.Access {
			var with []history.Shown
			for range rapid.IntRange(0, 2).Draw(t, "others") {
				with = append(with, history.Shown{Acquisition: drawID(t, 1), Token: number.Draw(t, "token"), MaxToken: number.Draw(t, "max")})
			}
			return history.Access{
				Acquisition: drawID(t, 1), Client: drawText(t, "client"), Op: drawEnum(t, "op", history.Write),
				Register: rapid.IntRange(0, h.Registers-1).Draw(t, "register"), Invoked: drawInstant(t, "invoked"),
				Applied: drawInstant(t, "applied"), Returned: drawInstant(t, "returned"), Accepted: flag(t, "accepted"),
				Token: number.Draw(t, "token"), MaxToken: number.Draw(t, "max"), Version: number.Draw(t, "version"),
				With: with,
			}
		})
	}
	h.Waits = drawList(t, "waits", func(t *rapid.T) history.Wait {
		return history.Wait{
			Client: drawText(t, "client"), Task: rapid.IntRange(0, 3).Draw(t, "task"), From: drawInstant(t, "from"),
			To: drawInstant(t, "to"), Ended: drawEnum(t, "ended", history.Died),
		}
	})
	h.Faults = drawList(t, "faults", func(t *rapid.T) history.Fault {
		return history.Fault{
			Name: drawText(t, "name"), Text: drawText(t, "text"), Fired: flag(t, "fired"), Begin: drawInstant(t, "begin"),
			End: drawInstant(t, "end"), Of: drawText(t, "of"), Sets: flag(t, "sets"), Waits: flag(t, "waits"),
		}
	})
	h.Notes = drawList(t, "notes", func(t *rapid.T) history.Note {
		return history.Note{Node: drawText(t, "node"), At: drawInstant(t, "at"), Text: drawText(t, "text")}
	})
	h.Loads = drawList(t, "loads", func(t *rapid.T) history.Load {
		return history.Load{
			Client: drawText(t, "client"), Waiting: rapid.Bool().Draw(t, "waiting"),
			From: drawInstant(t, "from"), Requests: rapid.IntRange(0, 1000).Draw(t, "requests"),
		}
	})
	h.Exits = drawList(t, "exits", func(t *rapid.T) history.Exit {
		return history.Exit{
			Client: drawText(t, "client"), At: drawInstant(t, "at"), Kind: drawText(t, "kind"), Text: drawText(t, "text"),
			Output: drawText(t, "output"),
		}
	})
	return h
}

func TestParseIsTheInverseOfString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		text := h.String()
		back, err := history.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, back.String())
		require.Equal(t, fmt.Sprintf("%#v", nilIfEmpty(*h)), fmt.Sprintf("%#v", nilIfEmpty(*back)))
	})
}

// nilIfEmpty makes empty lists and absent ones alike, which the text form does not tell apart.
func nilIfEmpty(h history.History) history.History {
	h.Acquisitions = append([]history.Acquisition(nil), h.Acquisitions...)
	h.Grants = append([]history.Grant(nil), h.Grants...)
	h.Copies = append([]history.Copy(nil), h.Copies...)
	h.Asks = append([]history.Ask(nil), h.Asks...)
	h.Removals = append([]history.Removal(nil), h.Removals...)
	h.Accesses = append([]history.Access(nil), h.Accesses...)
	h.Waits = append([]history.Wait(nil), h.Waits...)
	h.Faults = append([]history.Fault(nil), h.Faults...)
	h.Notes = append([]history.Note(nil), h.Notes...)
	h.Exits = append([]history.Exit(nil), h.Exits...)
	h.Loads = append([]history.Load(nil), h.Loads...)
	return h
}

func TestEveryRecordTakesOneReadableLine(t *testing.T) {
	h := &history.History{
		Fencing: history.FencedWrite, Registers: 1, HasTokens: true, End: 30_000_000_000,
		Acquisitions: []history.Acquisition{{
			ID: 1, Client: "a", Style: history.Careful, Returned: 1_000_000, Outcome: history.OK, Token: 33,
			HasDeadline: true, Deadline: 9_900_000_000, Noticed: trace.Never, Unlocked: 12_000_000_000,
			Crashed: trace.Never, Ended: trace.Never, Released: trace.Never, Release: history.Failed,
		}},
		Faults: []history.Fault{{Name: "pause-a", Text: "a pauses for 5s", Fired: true, Begin: 1, End: trace.Never}},
	}
	require.Equal(t, `history fencing=fenced-write registers=1 tokens end=30s
acquisition id=1 client=a style=careful returned=1ms outcome=ok token=33 deadline=9.9s unlocked=12s release=failed
fault name=pause-a text="a pauses for 5s" fired begin=1ns
`, h.String())
}

func TestParseSkipsBlankLinesAndRemarks(t *testing.T) {
	h, err := history.Parse("# story\n\nhistory end=1s # the end\r\n  wait client=\"# is no remark here\" from=1s\n")
	require.NoError(t, err)
	require.Equal(t, trace.Instant(1_000_000_000), h.End)
	require.Equal(t, "# is no remark here", h.Waits[0].Client)
	require.Equal(t, trace.Never, h.Waits[0].To)
}

func TestParseSaysWhereAndWhatIsAllowed(t *testing.T) {
	cases := []struct{ text, want string }{
		{"", `1:1: no record "history"`},
		{"# nothing", `1:1: no record "history"`},
		{"ask at=1s", `1:1: the first record, and no other, must be "history"`},
		{"history\n\n  history", `3:3: the first record, and no other, must be "history"`},
		{"history\nacquisiton", `2:1: unknown record "acquisiton"; did you mean "acquisition"?; allowed: ` +
			`history, acquisition, grant, copy, ask, removal, access, wait, fault, note, exit, load`},
		{"history\nzzz", `2:1: unknown record "zzz"; allowed: ` +
			`history, acquisition, grant, copy, ask, removal, access, wait, fault, note, exit, load`},
		{"history fencing=fenced-wirte", `1:17: unknown fencing "fenced-wirte"; did you mean "fenced-write"?; ` +
			`allowed: none, check-then-write, fenced-write, fenced-read-write, token-equality, compare-and-set`},
		{"history\nwait form=1s", `2:6: unknown field "form"; did you mean "from"?; ` +
			`allowed: client, task, from, to, ended`},
		{"history end=1s end=2s", `1:16: field "end" stands here twice`},
		{"history end", `1:9: field "end" needs a value: end=…`},
		{"history end=", `1:9: field "end" needs a value: end=…`},
		{"history tokens=yes", `1:9: field "tokens" is a flag: it has no value`},
		{"history end=soon", `1:13: end: "soon": must be a duration since the start, as in "1.5s", or "never"`},
		{"history\nwait to=1", `2:9: to: "1": must be a duration since the start, as in "1.5s", or "never"`},
		{"history\nacquisition id=1 deadline=x",
			`2:27: deadline: "x": must be a duration since the start, as in "1.5s", or "never"`},
		{"history registers=-1", `1:19: registers: "-1": must be a whole number from 0`},
		{"history\naccess token=x", `2:14: token: "x": must be a whole number from 0`},
		{`history bound="steps`, `1:15: a quoted text must be a Go string in double quotes, followed by a blank`},
		{`history bound="a"b`, `1:15: a quoted text must be a Go string in double quotes, followed by a blank`},
		{"history\n\nacquisition id=2", `3:1: acquisition: has the id 2, must have 1`},
		{"history\nask acquisition=1", `2:1: ask: there is no acquisition 1`},
		{"history\ngrant acquisition=1", `2:1: grant: there is no acquisition 1`},
		{"history\ncopy acquisition=1", `2:1: copy: there is no acquisition 1`},
		{"history\nremoval by=1", `2:1: removal: there is no acquisition 1`},
		{"history\nremoval\nremoval ended=1", `3:1: removal: there is no acquisition 1`},
		{"history registers=1\naccess", `2:1: access: there is no acquisition 0`},
		{"history registers=1\nacquisition id=1\naccess acquisition=1 register=1",
			`3:1: access: register 1 of 1, counted from 0`},
	}
	for _, c := range cases {
		_, err := history.Parse(c.text)
		require.EqualError(t, err, c.want, c.text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("history end=1s\nwait client=\"a b\" from=1s ended=got-it\n")
	f.Add("history registers=1\nacquisition id=1 deadline=never\naccess acquisition=1 op=write version=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := history.Parse(text)
		if err != nil {
			require.Regexp(t, `^\d+:\d+: `, err.Error())
			return
		}
		back, err := history.Parse(h.String())
		require.NoError(t, err)
		require.Equal(t, strings.ToValidUTF8(h.String(), "?"), strings.ToValidUTF8(back.String(), "?"))
	})
}
