package model

import "github.com/locksim/locksim/checker"

// Judgement is what was found in logs.
type Judgement struct {
	Headline string
	Scope    string // which lines were read
	Verdicts [checker.PropertyCount]checker.Verdict
	Reasons  [checker.PropertyCount]string
	Findings []string // the first ones
	More     string   // how many there are beyond those; "" if there are none
	First    *Run     // what surrounds the first finding; nil if there is none
	Property checker.Property
	Shown    string // introduces it
	Doubt    string // why it is not certain; "" if it is
	Notes    []string
}

// Worst is the gravest verdict.
func (j *Judgement) Worst() checker.Verdict {
	worst := checker.NotJudged
	for _, v := range j.Verdicts {
		if v == checker.NotSeen {
			v = checker.Held
		}
		if v == checker.Violated || v == checker.Undecided && worst != checker.Violated || worst == checker.NotJudged || worst == checker.Vacuous && v == checker.Held {
			worst = v
		}
	}
	return worst
}
