// Package clients builds the guest programs that run third-party lock libraries in a simulation, and describes for each
// how an observer sees which client holds its lock.
//
// Call [Build] with the name of a ready-made client (see [Catalogue]), with that name and another version of its
// library, such as "redsync@v4.15.0", or with a folder of Go code that imports package guest. The result is played like
// any other lock.
//
// The ready-made clients are separate modules in folders below this one, so that locksim does not depend on the
// libraries; their go.mod says which version is tested.
//
// Stability: the API of this package keeps working within a major version; the list of clients grows.
package clients

import (
	_ "embed"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/locksim/locksim/locks"
)

// Client is a guest program that runs a library's lock.
type Client struct {
	Lock     locks.Algorithm // the description of the lock, without its program
	Folder   string          // of the program, relative to this package's folder
	Library  string          // the module under test
	older    []older         // from the newest
	together []string        // modules that are released with the library, and needed in the same version
	since    string          // the version in which what it uses came into the library, if that is a late one
	_        struct{}
}

// Catalogue lists the ready-made clients.
func Catalogue() []Client {
	redsync := locks.Algorithm{
		Source: "github.com/go-redsync/redsync", Authority: locks.Majority, Deadline: locks.OnMonotonic, Identity: "value",
		Lease: true, Extends: true, Reference: "redlock-parallel",
	}
	onRedigo := redsync
	redsync.Sentinel, redsync.Cluster, redsync.Connects = true, true, true
	redsync.Name, redsync.Title = "redsync", "redsync on go-redis: Redlock, all servers at once"
	onRedigo.Name, onRedigo.Title = "redsync-redigo", "redsync on redigo"
	redislock := locks.Algorithm{
		Source: "github.com/bsm/redislock", Authority: locks.OneNode, Identity: "value", Lease: true, Extends: true,
		Reference: "set-nx-lua", Sentinel: true, Cluster: true, Connects: true,
	}
	ownToken := redislock
	redislock.Name, redislock.Title = "redislock", "bsm/redislock on go-redis: a script that sets a key if it is not another's"
	ownToken.Name, ownToken.Title = "redislock-token", "bsm/redislock with the application's own tokens: its clients' names"
	leader := locks.Algorithm{
		Source: "k8s.io/client-go/tools/leaderelection", Servers: "object", Authority: locks.OneNode, Key: leaseOf, Identity: "value",
		Lease: true, Keeps: true, HeedsRenew: true,
	}
	leaving := leader
	leader.Name, leader.Reference, leader.Lingers = "client-go", "k8s-lease", true
	leader.Title = "leader election of Kubernetes' client-go, on a lease of the Kubernetes API"
	leaving.Name, leaving.Reference = "client-go-release", "k8s-release-on-cancel"
	leaving.Title = "leader election of Kubernetes' client-go, with ReleaseOnCancel"
	return []Client{
		{Lock: redsync, Folder: "redsync", Library: "github.com/go-redsync/redsync/v4", older: olderRedsync()},
		{Lock: onRedigo, Folder: "redsync-redigo", Library: "github.com/go-redsync/redsync/v4", older: olderRedsync()},
		{Lock: redislock, Folder: "redislock", Library: "github.com/bsm/redislock", older: olderRedislock()},
		{Lock: ownToken, Folder: "redislock-token", Library: "github.com/bsm/redislock", since: "v0.9.3"},
		{
			Lock: locks.Algorithm{
				Name: "rueidislock", Title: "rueidis' own: most of three keys, renewed, waited for by client-side caching",
				Source: "github.com/redis/rueidis/rueidislock", Authority: locks.MostKeys, Keys: rueidisKeys,
				Identity: "value", Lease: true, Renews: true, Reference: "watchdog", Sentinel: true, Cluster: true,
			},
			Folder: "rueidislock", Library: "github.com/redis/rueidis",
		},
		{
			Lock: locks.Algorithm{
				Name: "go-zookeeper", Title: "zk.Lock of go-zookeeper: protected ephemeral sequential nodes",
				Source: "github.com/go-zookeeper/zk", Servers: "zookeeper", Authority: locks.Queue, Key: nodeOf,
				Identity: "own node", Lease: true, Keeps: true, Reference: "zk-sequential",
			},
			Folder: "go-zookeeper", Library: "github.com/go-zookeeper/zk",
		},
		etcdMutex(),
		{
			Lock: locks.Algorithm{
				Name: "consul-api", Title: "api.Lock of Consul's own Go library: a session acquires a key",
				Source: "github.com/hashicorp/consul/api", Servers: "consul", Authority: locks.OneNode,
				Identity: "session", Lease: true, Keeps: true, Reference: "consul",
			},
			Folder: "consul-api", Library: "github.com/hashicorp/consul/api",
		},
		{
			Lock: locks.Algorithm{
				Name: "dynamolock", Title: "dynamolock: AWS's lock client for DynamoDB in Go, with a session monitor",
				Source: "cirello.io/dynamolock", Servers: "object", Authority: locks.OneNode, Key: itemOf,
				Identity: "value", Lease: true, Renews: true, Reference: "dynamodb",
			},
			Folder: "dynamolock", Library: "cirello.io/dynamolock/v2",
		},
		awsS3(),
		{Lock: leader, Folder: "client-go", Library: "k8s.io/client-go", together: kubernetes},
		{Lock: leaving, Folder: "client-go-release", Library: "k8s.io/client-go", together: kubernetes},
	}
}

func etcdMutex() Client {
	return Client{
		Lock: locks.Algorithm{
			Name: "etcd-mutex", Title: "concurrency.Mutex of etcd's own Go library: a lease and a queue",
			Source: "go.etcd.io/etcd/client/v3/concurrency", Servers: "etcd", Authority: locks.Queue,
			Identity: "lease", Lease: true, Keeps: true, Token: true, Reference: "etcd",
		},
		Folder: "etcd-mutex", Library: "go.etcd.io/etcd/client/v3", together: []string{"go.etcd.io/etcd/api/v3"},
	}
}

func awsS3() Client {
	return Client{
		Lock: locks.Algorithm{
			Name: "aws-sdk-s3", Title: "a lock file on S3 by AWS's SDK for Go: put unless there is one, without an end",
			Source: "github.com/aws/aws-sdk-go-v2/service/s3", Servers: "object", Authority: locks.OneNode, Key: itemOf,
			Identity: "value", Reference: "s3-lockfile",
		},
		Folder: "aws-sdk-s3", Library: "github.com/aws/aws-sdk-go-v2/service/s3", since: "v1.60.0",
		together: []string{}, // none in its version, but its internal modules are those of its time
	}
}

// kubernetes lists the modules that are released with client-go.
var kubernetes = []string{"k8s.io/api", "k8s.io/apimachinery"}

// rueidisKeys are the keys that rueidislock takes with its defaults (its keyname, and KeyMajority, which is 2).
func rueidisKeys(o locks.Options) []string {
	return []string{"rueidislock:0:" + o.Key, "rueidislock:1:" + o.Key, "rueidislock:2:" + o.Key}
}

// nodeOf is the node that a key names.
func nodeOf(o locks.Options) string { return "/" + strings.TrimPrefix(o.Key, "/") }

// leaseOf is the lease of a key in the namespace default.
func leaseOf(o locks.Options) string { return "default/" + o.Key }

// itemOf is the item of a key in the table locks, or the object in that bucket.
func itemOf(o locks.Options) string { return "locks/" + o.Key }

// Names lists the names of the ready-made clients.
func Names() []string {
	var names []string
	for _, c := range Catalogue() {
		names = append(names, c.Lock.Name)
	}
	return names
}

// Versions lists the releases of the library that the client is for, as NAME@VERSION, from the oldest. Tests build some of them.
func (c *Client) Versions() []string {
	_, rest, _ := strings.Cut(releases, "\n"+c.Library+"\n")
	list, _, _ := strings.Cut(rest, "\n\n")
	versions := strings.Fields(list)
	return versions[slices.IndexFunc(versions, func(v string) bool { return semver.Compare(v, c.since) >= 0 }):]
}

//go:embed versions.txt
var releases string

// find returns the ready-made client of a name.
func find(name string) (Client, bool) {
	all := Catalogue()
	if i := slices.IndexFunc(all, func(c Client) bool { return c.Lock.Name == name }); i >= 0 {
		return all[i], true
	}
	return Client{}, false
}

// Is reports whether a name denotes a client: a ready-made one, with or without a version of its library, or a folder.
func Is(name string) bool {
	if isFolder(name) {
		return true
	}
	base, _, _ := strings.Cut(name, "@")
	_, ok := find(base)
	return ok
}

// isFolder reports whether a name is that of a folder rather than of a client: it has a slash, as ./mylock.
func isFolder(name string) bool {
	return strings.ContainsAny(name, `/\`) || name == "." || name == ".."
}
