package redis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// runClientTracking is CLIENT TRACKING (networking.c, clientCommand).
func runClientTracking(s *Store, p *Peer, _ *command, args []string) {
	want, problem := s.parseTracking(args)
	if problem == "" && strings.EqualFold(args[2], "ON") {
		problem = want.conflict(&p.tracking)
	}
	switch {
	case problem != "":
		s.fail(problem)
		return
	case strings.EqualFold(args[2], "ON"):
		if want.broadcast && len(want.prefixes) == 0 {
			want.prefixes = []string{""}
		}
		s.cached.track(p, want)
	case strings.EqualFold(args[2], "OFF"):
		s.cached.untrack(p)
	default:
		s.fail(errSyntax)
		return
	}
	s.ok()
}

func (s *Store) parseTracking(args []string) (want tracking, problem string) {
	for i := 3; i < len(args); i++ {
		switch option := strings.ToUpper(args[i]); {
		case option == "BCAST":
			want.broadcast = true
		case option == "OPTIN":
			want.optIn = true
		case option == "OPTOUT":
			want.optOut = true
		case option == "NOLOOP":
			want.noLoop = true
		case option == "PREFIX" && i+1 < len(args):
			i++
			want.prefixes = append(want.prefixes, args[i])
		case option == "REDIRECT" && i+1 < len(args):
			i++
			if want.redirect != 0 {
				return want, "ERR A client can only redirect to a single other client"
			}
			id, err := strconv.ParseInt(args[i], 10, 64)
			switch {
			case err != nil:
				return want, errInteger
			case s.peerByID(id) == nil:
				return want, "ERR The client ID you want redirect to does not exist"
			}
			want.redirect = id
		default:
			return want, errSyntax
		}
	}
	return want, ""
}

// conflict says why tracking cannot be turned on in this way; "" if it can.
func (t *tracking) conflict(was *tracking) (problem string) {
	const again = " before disabling tracking for this client, and then re-enabling it with a different mode."
	switch {
	case !t.broadcast && len(t.prefixes) > 0:
		return "ERR PREFIX option requires BCAST mode to be enabled"
	case was.on && was.broadcast != t.broadcast:
		return "ERR You can't switch BCAST mode on/off" + again
	case t.broadcast && (t.optIn || t.optOut):
		return "ERR OPTIN and OPTOUT are not compatible with BCAST"
	case t.optIn && t.optOut:
		return "ERR You can't specify both OPTIN mode and OPTOUT mode"
	case t.optIn && was.optOut || t.optOut && was.optIn:
		return "ERR You can't switch OPTIN/OPTOUT mode" + again
	}
	if t.broadcast {
		return t.overlap(was.prefixes)
	}
	return ""
}

// overlap says which prefixes contain each other, or ones that the connection already has (checkPrefixCollisionsOrReply).
func (t *tracking) overlap(existing []string) (problem string) {
	const rule = "Prefixes for a single client must not overlap."
	for i, prefix := range t.prefixes {
		for _, other := range existing {
			if overlaps(prefix, other) {
				return fmt.Sprintf("ERR Prefix '%s' overlaps with an existing prefix '%s'. %s", prefix, other, rule)
			}
		}
		for _, other := range t.prefixes[i+1:] {
			if overlaps(prefix, other) {
				return fmt.Sprintf("ERR Prefix '%s' overlaps with another provided prefix '%s'. %s", prefix, other, rule)
			}
		}
	}
	return ""
}

func overlaps(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

func runClientCaching(s *Store, p *Peer, _ *command, args []string) {
	t := &p.tracking
	switch word := strings.ToUpper(args[2]); {
	case !t.on:
		s.fail("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case word != "YES" && word != "NO":
		s.fail(errSyntax)
	case word == "YES" && !t.optIn:
		s.fail("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	case word == "NO" && !t.optOut:
		s.fail("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	default:
		t.caching = true
		s.ok()
	}
}

func runClientGetredir(s *Store, p *Peer, _ *command, _ []string) {
	if !p.tracking.on {
		s.out = appendInteger(s.out, -1)
		return
	}
	s.out = appendInteger(s.out, p.tracking.redirect)
}

func runClientTrackinginfo(s *Store, p *Peer, c *command, args []string) {
	t := &p.tracking
	flags := []string{"off"}
	if t.on {
		flags[0] = "on"
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{t.broadcast, "bcast"}, {t.optIn, "optin"}, {t.optIn && t.caching, "caching-yes"}, {t.optOut, "optout"},
		{t.optOut && t.caching, "caching-no"}, {t.noLoop, "noloop"}, {t.broken, "broken_redirect"},
	} {
		if flag.set {
			flags = append(flags, flag.name)
		}
	}
	s.head(ReplyMap, 3)
	s.out = appendBulk(s.out, "flags")
	s.head(ReplySet, len(flags))
	s.bulks(flags...)
	s.out = appendBulk(s.out, "redirect")
	runClientGetredir(s, p, c, args)
	s.out = appendBulk(s.out, "prefixes")
	s.head(ReplyArray, len(t.prefixes))
	s.bulks(slices.Sorted(slices.Values(t.prefixes))...)
}
