package locks

import "time"

// setNXLuaWaitElsewhere is setNXLuaWait with SET and WAIT as separate calls, each on any connection that the
// client library chooses, as in code that calls WAIT like any other command.
//
// WAIT refers to the writes of its own connection. If the master is replaced between the two, the library sends
// WAIT to the new one, on a connection that has written nothing: then every replica counts, even the old master
// that has just dropped the key. The client believes to hold the lock, and no server has it.
func setNXLuaWaitElsewhere() Algorithm {
	a := setNXLuaWait()
	a.Name = "set-nx-lua-wait-elsewhere"
	a.Title = "set-nx-lua-wait that sends WAIT on whatever connection there is"
	a.Source = "code that calls WAIT like any other command; Redis documentation, WAIT"
	a.Status = Mistake
	a.New = newSetNXLuaWaitElsewhere
	return a
}

func newSetNXLuaWaitElsewhere(o Options) Builder {
	return func(p Process) (Lock, error) {
		l := onReplicas(p, o)
		l.redis = oneByOne{l.redis}
		return l, nil
	}
}

// oneByOne sends what belongs together as calls of their own.
type oneByOne struct{ Redis }

// Pipeline sends each command when the previous one has been answered.
func (r oneByOne) Pipeline(timeout time.Duration, commands ...[]string) ([]Reply, error) {
	var replies []Reply
	for _, command := range commands {
		reply, err := r.Do(timeout, command...)
		if err != nil {
			return replies, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
}
