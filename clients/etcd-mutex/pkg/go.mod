// What etcd's client for Go uses of go.etcd.io/etcd/client/pkg/v3, without the rest: that locks files, for which WebAssembly has no call.
module go.etcd.io/etcd/client/pkg/v3

go 1.25.0

require go.uber.org/zap v1.27.0

require go.uber.org/multierr v1.10.0 // indirect
