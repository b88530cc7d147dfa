package serve_test

import (
	"time"

	"github.com/stretchr/testify/require"
)

// zkDifference is something in which the simulated server is known to differ from the real one, and why that can matter to
// no lock. Those that a story can show are shown, so that one that has gone is noticed.
type zkDifference struct {
	zkStory
	why string
}

// zkDifferences is the whole list of them.
var zkDifferences = []zkDifference{
	{zkStory{name: "the order of children, of the nodes that go with a session, of who a client is"},
		"they are sets, for which ZooKeeper promises no order: they are sorted before they are compared"},
	{zkStory{name: "zxids and session ids"}, "they are counted from another number; what follows from them is compared"},
	{zkStory{name: "quotas, nodes with a time to live, reconfiguration, SASL"},
		"except for quotas, a real server must be configured for them too; quotas are not enforced unless configured"},
	{zkStory{name: "/zookeeper/config is empty in an ensemble"}, "no lock reads where the servers are"},
	{zkStory{name: "a connection on which nothing is ever said stays open; a real one is closed after ten seconds"},
		"it has no session"},
	{zkStory{name: "what four letters tell of latencies, sizes and the machine"}, "nothing is measured"},
	{zkStory{name: "a create with a negative time to live, in a mode without one"},
		"it is refused here; it ends the thread of a real server that orders requests, and with it the server"},
	{zkStory{name: "create-session", play: func(t require.TestingT, s *zkSide, _ string) {
		s.only(t, frame{}.int(1).int(-10).int(1_000))
	}}, "no client asks for a session in another frame than the first; a real server opens a second one"},
	{zkStory{name: "sasl", play: func(t require.TestingT, s *zkSide, _ string) {
		s.only(t, frame{}.int(1).int(102).text(""))
	}}, "SASL needs a server that is configured for it; a real one that is not configured does not answer"},
	{zkStory{name: "reads-that-are-writes", play: func(t require.TestingT, s *zkSide, root string) {
		s.only(t, append(frame{}.int(1).int(opMultiRead), frame{}.inMulti(opDelete, frame{}.text(root).int(-1)).ended()...))
	}}, "no client does it; the error is the same, and a real server adds an empty list"},
	{zkStory{name: "no-path", play: func(t require.TestingT, s *zkSide, _ string) {
		s.only(t, frame{}.int(1).int(opSync).int(-1))
	}}, "no client syncs without a path; the answer repeats it, empty here and missing there"},
	{zkStory{name: "characters", play: func(t require.TestingT, s *zkSide, _ string) {
		s.only(t, frame{}.int(1).int(opSync).text("/\U0001f512"))
	}}, "Java writes characters beyond the first 65,536 as pairs, which is no UTF-8; no node can have them in its name"},
}

// only sends one request on a connection of its own, and tells the answer.
func (s *zkSide) only(t require.TestingT, request frame) {
	c, err := dialZK(s.addresses[0], time.Second, 0, "")
	require.NoError(t, err)
	require.NoError(t, c.write(request))
	b, err := c.read()
	s.say("%x %v", b[min(len(b), 12):], err)
	_ = c.write(frame{}.int(2).int(opCloseSess))
	_, _ = c.read()
	require.NoError(t, c.conn.Close())
}
