package zookeeper

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Permission is a set of permitted operations on a node, as bits (ZooDefs.Perms).
type Permission int32

// The permissions. Create and delete concern a node's children.
const (
	MayRead Permission = 1 << iota
	MayWrite
	MayCreate
	MayDelete
	MayAdmin
	MayAll = MayRead | MayWrite | MayCreate | MayDelete | MayAdmin
)

// Identity is an identity in an authentication scheme: "world", "ip", "digest"; or "auth", which stands for all
// identities that a client has proved.
type Identity struct{ Scheme, ID string }

// ACL lists the permissions of an identity.
type ACL struct {
	Permission Permission
	Identity
}

var (
	anyone     = Identity{"world", "anyone"}
	openToAll  = []ACL{{MayAll, anyone}}
	readForAll = []ACL{{MayRead, anyone}}
)

// OpenToAll reports whether a list permits everything to every client, as an empty field of a [Request] does.
func OpenToAll(list []ACL) bool { return slices.Equal(list, openToAll) }

// listed is a list as clients know it.
func listed(list []ACL) []ACL {
	if list == nil {
		return openToAll
	}
	return list
}

// fixup checks a list that a client wants a node to have, and puts what it has proved to be for "auth"
// (PrepRequestProcessor.fixupACL).
func fixup(list []ACL, is []Identity) ([]ACL, Code) {
	if list == nil {
		return nil, OK
	}
	var fixed []ACL
	for i, a := range list {
		switch {
		case slices.Contains(list[:i], a):
		case a.Scheme == "auth":
			known := len(fixed)
			for _, id := range is {
				if id.Scheme == "digest" { // an address proves nothing
					fixed = append(fixed, ACL{a.Permission, id})
				}
			}
			if len(fixed) == known {
				return nil, InvalidACL
			}
		case a.Identity != anyone && !validDigest(a.Identity) && !validAddress(a.Identity):
			return nil, InvalidACL
		default:
			fixed = append(fixed, a)
		}
	}
	if len(fixed) == 0 {
		return nil, InvalidACL
	}
	return fixed, OK
}

// permits reports whether one of the identities may do one of the things (ZooKeeperServer.checkACL).
func permits(list []ACL, wanted Permission, is []Identity) bool {
	return list == nil || slices.ContainsFunc(list, func(a ACL) bool {
		return a.Permission&wanted != 0 && (a.Identity == anyone || slices.ContainsFunc(is, a.matches))
	})
}

func (a ACL) matches(id Identity) bool {
	switch {
	case a.Scheme != id.Scheme:
		return false
	case a.Scheme == "ip":
		return within(id.ID, a.ID)
	default:
		return a.ID == id.ID
	}
}

// Digest returns the identity of a name and its password (DigestAuthenticationProvider).
func Digest(nameAndPassword string) Identity {
	name, _, _ := strings.Cut(nameAndPassword, ":")
	sum := sha1.Sum([]byte(nameAndPassword))
	return Identity{"digest", name + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// validDigest asks for two parts, as Java splits them: empty ones at the end are none.
func validDigest(id Identity) bool {
	parts := strings.Split(strings.TrimRight(id.ID, ":"), ":")
	return id.Scheme == "digest" && len(parts) == 2
}

func validAddress(id Identity) bool {
	_, ok := network(id.ID)
	return id.Scheme == "ip" && ok
}

// network parses an address, or an address and the length of its prefix in bits (IPAuthenticationProvider, for
// version 4).
func network(text string) (netip.Prefix, bool) {
	address, bits, some := strings.Cut(text, "/")
	a, err := netip.ParseAddr(address)
	n := 32
	if some && err == nil {
		n, err = strconv.Atoi(bits)
	}
	return netip.PrefixFrom(a, n), err == nil && a.Is4() && n >= 0 && n <= 32
}

func within(address, text string) bool {
	n, ok := network(text)
	a, err := netip.ParseAddr(address)
	return ok && err == nil && n.Contains(a)
}

// hidden is a list as somebody sees it who may read it but not change it: without digests (FinalRequestProcessor, getACL).
func hidden(list []ACL) []ACL {
	list = slices.Clone(list)
	for i, a := range list {
		if name, _, some := strings.Cut(a.ID, ":"); some && a.Scheme == "digest" {
			list[i].ID = name + ":x"
		}
	}
	return list
}
