package sentinel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// helloChannel is where Sentinels tell each other what they know, through every server that they watch.
const helloChannel = "__sentinel__:hello"

// hello says which server this Sentinel takes for the master, and since which epoch (sentinelSendHello).
func (s *Sentinel) hello() string {
	return fmt.Sprintf("%s,%s,%s,%d,%s,%s,%s,%d",
		s.node.Name, ownPort, s.node.Name, s.file.epoch, MasterName, s.Master().Name, port, s.file.configEpoch)
}

// listen takes a message of a server's channel, or the confirmation that there is one.
func (w *watched) listen(p sim.Payload) {
	w.channel.heard = w.s.now()
	if m, ok := p.(*redis.Message); ok {
		w.s.hearHello(m.Text)
	}
}

// hearHello takes another Sentinel's word if it knows of later epochs (sentinelProcessHelloMessage). One that is still
// about to switch, and hears that in a later epoch its old master is the master, only notes the epoch: it tells of its
// own choice under that epoch until it has switched.
func (s *Sentinel) hearHello(text string) {
	words := strings.Split(text, ",")
	if len(words) != 8 || words[0] == s.node.Name {
		return
	}
	epoch, err := strconv.ParseUint(words[3], 10, 64)
	if err != nil {
		return
	}
	configEpoch, err := strconv.ParseUint(words[7], 10, 64)
	if err != nil {
		return
	}
	s.file.epoch = max(s.file.epoch, epoch)
	if s.file.configEpoch >= configEpoch {
		return
	}
	s.file.configEpoch = configEpoch
	if master := s.node.Peer(words[5]); master != nil && master != s.master.node {
		s.switchTo(master)
	}
}
