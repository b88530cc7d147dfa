package locks

import "fmt"

// taken is what a lock stores that does not say who holds it.
const taken = "locked"

// oneServer is what the locks on a single Redis server share: where they run, whom they talk to, their options.
type oneServer struct {
	p       Process
	redis   Redis
	options Options
}

func onOneServer(p Process, o Options) oneServer {
	return oneServer{p: p, redis: p.Redis(0), options: o.withDefaults()}
}

// do sends a command on the lock's key and names it in the error.
func (s *oneServer) do(command string, args ...string) (Reply, error) {
	request := append(append(make([]string, 0, 2+len(args)), command, s.options.Key), args...)
	reply, err := s.redis.Do(s.options.Timeout, request...)
	if err != nil {
		return Reply{}, fmt.Errorf("redis %s %s: %w", command, s.options.Key, err)
	}
	return reply, nil
}

// eval runs a script on the given keys and names it in the error.
func (s *oneServer) eval(script Script, keys []string, args ...string) (Reply, error) {
	reply, err := Eval(s.redis, s.options.Timeout, script, keys, args...)
	if err != nil {
		return Reply{}, fmt.Errorf("redis script %s %s: %w", script.Name, s.options.Key, err)
	}
	return reply, nil
}

// set is SET NX PX: it makes the key with its time to live, unless there is one, in one step (Redis 2.6.12).
func (s *oneServer) set(value string) error {
	reply, err := s.do("SET", value, "NX", "PX", millis(s.options.TTL))
	if err != nil {
		return err
	}
	if !reply.OK() {
		return ErrNotAcquired
	}
	return nil
}

// compareAndDelete removes the key if it still has this value, in one step.
func (s *oneServer) compareAndDelete(value string) error {
	reply, err := s.eval(releaseScript(), []string{s.options.Key}, value)
	return heldIfOne(reply, err)
}

// del removes the key, even if another client made it.
func (s *oneServer) del() error {
	reply, err := s.do("DEL")
	return heldIfOne(reply, err)
}

// heldIfOne reads the number of removed keys: if there was none, then the lock was not held.
func heldIfOne(reply Reply, err error) error {
	if err != nil {
		return err
	}
	if reply.Int == 0 {
		return ErrNotHeld
	}
	return nil
}
