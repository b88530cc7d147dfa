package text

import (
	"io"
	"strings"

	"github.com/locksim/locksim/checker"
	"github.com/locksim/locksim/reports/internal/layout"
	"github.com/locksim/locksim/reports/internal/model"
	"github.com/locksim/locksim/reports/internal/paint"
	"github.com/locksim/locksim/reports/internal/tell"
	"github.com/locksim/locksim/reports/internal/wording"
)

// Judgement prints what was found in logs: a headline, the verdicts, the first findings, and the first of them as a picture with
// what the log shows of how it came about.
func Judgement(w io.Writer, j *model.Judgement, o Options) error {
	t := New(o)
	worst := j.Worst()
	t.paragraph("", t.Sign(worst)+" "+j.Headline, inkOfWorst(worst, j))
	t.paragraph("", j.Scope, paint.Faint)
	t.judged(j)
	if len(j.Findings) > 0 {
		t.Line("")
	}
	for _, each := range j.Findings {
		t.Item(t.Glyphs.Bullet, each, paint.Plain)
	}
	if j.More != "" {
		t.Item(" ", j.More, paint.Faint)
	}
	if j.First != nil {
		t.first(j)
	}
	t.Line("")
	for _, note := range j.Notes {
		t.paragraph("", note, paint.Faint)
	}
	return t.Flush(w)
}

func inkOfWorst(worst checker.Verdict, j *model.Judgement) paint.Ink {
	if worst == checker.Violated && j.Verdicts[checker.Resource] == checker.Violated {
		return paint.Red
	}
	return tell.InkOf(checker.MutualExclusion, worst)
}

// judged prints the verdicts of the properties that a log says something of.
func (t *Printer) judged(j *model.Judgement) {
	t.Line("")
	width := 0
	for p := range checker.PropertyCount {
		if j.Verdicts[p] != checker.NotJudged {
			width = max(width, wording.Columns(p.String()))
		}
	}
	var not []string
	for p := range checker.PropertyCount {
		v := j.Verdicts[p]
		if v == checker.NotJudged {
			if p == checker.Resource || p == checker.FencingOrder || p == checker.MutualExclusion {
				not = append(not, p.String()+" ("+j.Reasons[p]+")")
			}
			continue
		}
		k := tell.InkOf(p, v)
		head := "  " + t.Ink(k, t.Sign(v)+" "+wording.Pad(p.String(), width)+"  "+wording.Pad(v.String(), 10))
		plain := 2 + wording.Columns(t.Sign(v)) + 1 + width + 2 + 10
		for i, line := range wording.Wrap(j.Reasons[p], max(t.Options.Width-plain-1, 20), "") {
			if i > 0 {
				t.Line(head)
				head = strings.Repeat(" ", plain)
			}
			head += " " + t.Ink(paint.Faint, line)
		}
		t.Line(strings.TrimRight(head, " "))
	}
	if len(not) > 0 {
		t.paragraph("    ", "Not judged: "+wording.Listing(not)+".", paint.Faint)
	}
}

// first draws the first finding.
func (t *Printer) first(j *model.Judgement) {
	runs := []model.Run{j.First.About(j.Property)}
	drawn := layout.New(runs, t.Options.Width, t.Glyphs)
	t.Line("")
	t.paragraph("", j.Shown, paint.Strong)
	if explained := drawn.Runs[0].Explain(nil); explained != "" {
		t.paragraph("  ", explained, paint.Plain)
	}
	if j.Doubt != "" {
		t.paragraph("  ", j.Doubt, paint.Plain)
	}
	t.Line("")
	t.Items(tell.Heading(j.First), " "+t.Glyphs.Dot+" ", paint.Strong)
	t.timeline(drawn)
	t.events(drawn, 0)
	t.Line("")
	t.paragraph("", "Assumes: "+strings.Join(tell.Assumptions(drawn.Runs[0].View), "; ")+".", paint.Faint)
}
