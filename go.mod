module github.com/locksim/locksim

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.40.0
	github.com/anishathalye/porcupine v1.3.0
	github.com/stretchr/testify v1.12.1
	github.com/yuin/gopher-lua v1.1.1
	go.yaml.in/yaml/v3 v3.0.6
	pgregory.net/rapid v1.3.0
)

require (
	github.com/andybalholm/brotli v1.3.0
	github.com/go-zookeeper/zk v1.0.4
	github.com/tetratelabs/wazero v1.12.0
	github.com/yuin/goldmark v1.8.2
	golang.org/x/mod v0.43.0
	golang.org/x/net v0.57.0
	golang.org/x/sys v0.48.0
	gonum.org/v1/gonum v0.17.0
)
