package database

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/trace"
)

// Kind is the type of a Value.
type Kind uint8

// The types. A truth value is the integer 1 or 0.
const (
	KindNull     Kind = iota
	KindInt           // a number
	KindText          // a string
	KindTime          // a moment, in nanoseconds since 1970
	KindInterval      // a length of time, in nanoseconds; it lives in expressions only
)

// Value is the value of a column, an argument or a result. The zero value is NULL.
type Value struct {
	Kind Kind
	Int  int64
	Text string
}

// Int returns a number.
func Int(n int64) Value { return Value{Kind: KindInt, Int: n} }

// Text returns a string.
func Text(s string) Value { return Value{Kind: KindText, Text: s} }

// Time returns a moment.
func Time(ns int64) Value { return Value{Kind: KindTime, Int: ns} }

func truth(b bool) Value {
	if b {
		return Int(1)
	}
	return Int(0)
}

// Null reports whether the value is NULL.
func (v Value) Null() bool { return v.Kind == KindNull }

// holds reports whether a condition with this value is met: NULL does not meet any.
func (v Value) holds() bool { return !v.Null() && v.Int != 0 }

// String formats the value as an SQL literal.
func (v Value) String() string {
	switch v.Kind {
	case KindNull:
		return "NULL"
	case KindText:
		return "'" + strings.ReplaceAll(v.Text, "'", "''") + "'"
	case KindTime:
		return "'" + v.Bare() + "'"
	case KindInterval:
		return time.Duration(v.Int).String()
	default:
		return strconv.FormatInt(v.Int, 10)
	}
}

// compare orders two values, neither of which is NULL. A string and a number are compared as strings.
func compare(a, b Value) int {
	if a.Kind == KindText || b.Kind == KindText {
		return cmp.Compare(a.Bare(), b.Bare())
	}
	return cmp.Compare(a.Int, b.Int)
}

// Bare is the text of a value without quotes, as a client gets it.
func (v Value) Bare() string {
	switch v.Kind {
	case KindText:
		return v.Text
	case KindTime:
		return time.Unix(0, v.Int).UTC().Format("2006-01-02 15:04:05.000000")
	default:
		return v.String()
	}
}

func (v Value) digest(d *trace.Digest) {
	d.Uint64(uint64(v.Kind)<<56 ^ uint64(v.Int))
	d.String(v.Text)
}
