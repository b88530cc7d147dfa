package replay

// newServers makes the deployment that a scenario names.
func newServers(s *stage) servers {
	switch s.scenario.Servers.Kind {
	case "zookeeper":
		return newZooKeeperServers(s)
	case "etcd":
		return &etcdServers{stage: s}
	default:
		return newRedisServers(s)
	}
}
