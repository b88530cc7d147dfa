// Package types has the addresses of a cluster's members, which the simulated etcd does not change.
package types

import "errors"

// URLs are the addresses of a member.
type URLs []string

// NewURLs refuses them.
func NewURLs([]string) (URLs, error) { return nil, errors.New("the simulated etcd has no members") }
