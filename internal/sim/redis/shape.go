package redis

import (
	"fmt"
	"slices"
	"strings"
)

// shape is what becomes of miniredis's answer: RESP3 has types for more than RESP2, and Redis 7.0 writes scores with all of their
// digits (networking.c, addReplyDouble).
type shape uint8

const (
	unshaped shape = iota
	toMap          // an array of keys and values
	toSet          // an array
	toScore        // a bulk, or each of an array
	toPairs        // an array of members and scores: in RESP3 each pair is an array
)

// shapes are the commands whose answers have one. Those that answer with pairs do if they are asked for scores, or for a count.
var shapes = map[string]shape{
	"HGETALL": toMap, "SMEMBERS": toSet, "SINTER": toSet, "SUNION": toSet, "SDIFF": toSet,
	"ZSCORE": toScore, "ZMSCORE": toScore, "ZINCRBY": toScore, "ZADD": toScore,
	"ZRANGE": toPairs, "ZREVRANGE": toPairs, "ZRANGEBYSCORE": toPairs, "ZREVRANGEBYSCORE": toPairs,
	"ZPOPMIN": toPairs, "ZPOPMAX": toPairs,
}

// reshape gives the reply that begins at start its shape.
func (s *Store) reshape(c *command, args []string, start int) {
	r, err := ParseReply(s.out[start:])
	if err != nil {
		panic(fmt.Sprintf("redis: miniredis answered %q: %v", args, err))
	}
	s.out = c.shape.of(r, args, s.protocol).Append(s.out[:start], s.protocol)
}

func (to shape) of(r Reply, args []string, p Protocol) Reply {
	switch {
	case to == toMap && r.Type == ReplyArray:
		r.Type = ReplyMap
	case to == toSet && r.Type == ReplyArray:
		r.Type = ReplySet
	case to == toScore && r.Type == ReplyBulk:
		return score(r.Text)
	case to == toScore && r.Type == ReplyArray:
		for i, elem := range r.Elems {
			r.Elems[i] = toScore.of(elem, args, p)
		}
	case to == toPairs && r.Type == ReplyArray:
		return pairs(r, args, p)
	}
	return r
}

// score is a double as Redis writes it.
func score(text string) Reply { return Reply{Type: ReplyDouble, Text: allDigits(text)} }

// pairs makes scores numbers, and in RESP3 an array of each member and its score unless only one was to be popped.
func pairs(r Reply, args []string, p Protocol) Reply {
	popped := strings.HasPrefix(strings.ToUpper(args[0]), "ZPOP")
	if !popped && !slices.ContainsFunc(args[4:], func(word string) bool { return strings.EqualFold(word, "WITHSCORES") }) {
		return r
	}
	for i := 1; i < len(r.Elems); i += 2 {
		r.Elems[i] = score(r.Elems[i].Text)
	}
	if p == RESP2 || popped && len(args) == 2 {
		return r
	}
	return inPairs(r)
}

// inPairs makes an array of each two elements.
func inPairs(r Reply) Reply {
	nested := Reply{Type: ReplyArray}
	for i := 0; i+1 < len(r.Elems); i += 2 {
		nested.Elems = append(nested.Elems, Reply{Type: ReplyArray, Elems: r.Elems[i : i+2]})
	}
	return nested
}
