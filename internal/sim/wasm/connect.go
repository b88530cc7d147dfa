package wasm

import (
	"bytes"
	"errors"

	"github.com/locksim/locksim/internal/sim/program"
	"github.com/locksim/locksim/sim"
)

// connection is an open one of a snapshot: where it leads, and what the program has written to it. The zero value is a free number.
type connection struct {
	address string
	sent    []byte
}

// mostConnected is how many snapshots of a program with connections are kept, each of some megabytes.
const mostConnected = 128

// Connect runs the program in a task of a preparation until its library has opened its connections.
func (i *Instance) Connect(which int, t *sim.Task, h program.Host, random *sim.Rand) error {
	if err := i.Restore(which); err != nil {
		return err
	}
	connect := i.wasm.ExportedFunction(program.ConnectExport)
	if connect == nil {
		return errors.New("the program was built from an older version of package guest, which opens no connections before a run")
	}
	i.connecting = true
	defer func() { i.connecting = false }()
	err := i.play(connect, t, h, random)
	if err == nil {
		i.prepared = i.snapshot()
	}
	return err
}

// Keep keeps what the program is after Connect.
func (i *Instance) Keep(key string) error {
	im := i.prepared
	for _, p := range difference(i.module.base.memory, i.region.bytes[:i.region.length]) {
		im.pages = append(im.pages, patch{p.at, bytes.Clone(p.bytes)})
	}
	for _, f := range i.files {
		c, err := connectionOf(f)
		if err != nil {
			return err
		}
		im.files = append(im.files, c)
	}
	i.module.keep(key, im)
	return nil
}

// connectionOf returns what a run has to know of an open file to begin with it.
func connectionOf(f file) (connection, error) {
	s, isSocket := f.(*socket)
	switch {
	case f == nil:
		return connection{}, nil
	case !isSocket, s.failed != ok:
		return connection{}, errors.New("the program has something else open than connections when it has connected")
	case s.over:
		return connection{}, errors.New("a server has ended a connection that the program has opened")
	case len(s.in) > 0:
		return connection{}, errors.New("the program has not read all answers when it has connected")
	}
	return connection{s.address, s.sent}, nil
}

// keep keeps a snapshot. If there are many already, all others are dropped: to make one again costs little more than a run.
func (m *Module) keep(key string, im *image) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.connected == nil || len(m.connected) >= mostConnected {
		m.connected = make(map[string]*image)
	}
	m.connected[key] = im
}

// RestoreConnected resets the instance to the snapshot that Connect has kept with this key; false if there is none.
func (i *Instance) RestoreConnected(key string) bool {
	i.module.mu.Lock()
	im := i.module.connected[key]
	i.module.mu.Unlock()
	if im != nil {
		i.restore(im)
	}
	return im != nil
}

// Adopt gives the program the connections of its snapshot. Each server executes what was sent to it in the preparation, so that it
// knows of the connection what the program expects; the answers have been read.
func (i *Instance) Adopt(t *sim.Task, h program.Host) {
	i.task, i.host = t, h
	for _, c := range i.before {
		if c.address == "" {
			i.files = append(i.files, nil)
			continue
		}
		s := &socket{instance: i, address: c.address, failed: ok}
		node, talk := h.Resolve(c.address)
		s.talk = talk
		var requests []sim.Payload
		talk.Receive(c.sent, func(p sim.Payload) error {
			requests = append(requests, p)
			return nil
		})
		s.conn = t.Adopt(node, s, requests)
		s.conn.Probe(probeEvery, probeEnds)
		i.files = append(i.files, s)
	}
}
