package zookeeper

import "strings"

// read answers a request from what the server has applied, which may be old (FinalRequestProcessor).
func (s *Server) read(c *client, r *Request) *Response {
	a := &Response{Request: r, Zxid: s.lastApplied()}
	if r.Malformed {
		a.Err = MarshallingError
		return a
	}
	switch r.Op {
	case Exists:
		s.exists(c, r, a)
	case GetData, GetChildren:
		s.lookAt(c, r, a)
	case SetWatches:
		s.watches.reset(s.tree, r, c, a.Zxid)
	case GetACL:
		s.readACL(c, r, a)
	case CountDescendants:
		if a.Err = s.mayRead(r.Path, c); a.Err == OK {
			a.Number = s.tree.descendants(r.Path)
		}
	case GetEphemerals:
		a.Children = s.tree.ephemeralsBelow(c.session, r.Path)
	case MultiRead:
		for i := range r.Ops {
			one := Response{Request: &r.Ops[i], Zxid: a.Zxid}
			s.lookAt(c, &r.Ops[i], &one)
			a.Results = append(a.Results, one)
		}
	case AddWatch, CheckWatch, RemoveWatch:
		a.Err = s.watches.manage(r, c)
	case WhoAmI:
		a.Auth = c.is
	case Ping:
	default:
		a.Err = BadArguments
	}
	return a
}

// exists is asked by anybody, and sets its watch whether there is a node or not.
func (s *Server) exists(c *client, r *Request, a *Response) {
	if strings.Contains(r.Path, "\x00") {
		a.Err = BadArguments
		return
	}
	a.Stat, a.Err = s.tree.Stat(r.Path)
	if r.Watch {
		s.watches.data.add(r.Path, c, WatchOnce)
	}
}

// lookAt reads a node's data or its children's names, for a client that may.
func (s *Server) lookAt(c *client, r *Request, a *Response) {
	if a.Err = s.mayRead(r.Path, c); a.Err != OK {
		return
	}
	n, table := s.tree.at(r.Path), &s.watches.data
	a.Stat = n.stat()
	if r.Op == GetData {
		a.Data, a.NoData = n.data, n.noData
	} else {
		a.Children, table = n.names.view(), &s.watches.child
	}
	if r.Watch {
		table.add(r.Path, c, WatchOnce)
	}
}

func (s *Server) mayRead(path string, c *client) Code {
	n := s.tree.at(path)
	switch {
	case n == nil:
		return NoNode
	case !permits(n.acl, MayRead, c.is):
		return NoAuth
	}
	return OK
}

func (s *Server) readACL(c *client, r *Request, a *Response) {
	n := s.tree.at(r.Path)
	switch {
	case n == nil:
		a.Err = NoNode
	case !permits(n.acl, MayRead|MayAdmin, c.is):
		a.Err = NoAuth
	case !permits(n.acl, MayAdmin, c.is):
		a.Stat, a.ACL = n.stat(), hidden(n.acl)
	default:
		a.Stat, a.ACL = n.stat(), listed(n.acl)
	}
}

// manage sets, looks for and takes away watches by themselves.
func (w *watches) manage(r *Request, c *client) Code {
	if r.Op == AddWatch {
		w.data.add(r.Path, c, r.WatchMode)
		w.child.add(r.Path, c, r.WatchMode)
		return OK
	}
	of := (*watchTable).remove
	if r.Op == CheckWatch {
		of = (*watchTable).has
	}
	found := r.WatchTypes&ChildWatch != 0 && of(&w.child, r.Path, c)
	found = r.WatchTypes&DataWatch != 0 && of(&w.data, r.Path, c) || found
	if !found {
		return NoWatcher
	}
	return OK
}

// reset sets again the watches that a client had on another server, or sends it the events that it has missed
// (DataTree.setWatches), except for a node that was created and deleted meanwhile.
func (w *watches) reset(t *Tree, r *Request, c *client, applied Zxid) {
	send := func(e EventType, path string) { c.send(&WatchEvent{Type: e, Path: path, Zxid: applied}) }
	for _, path := range r.DataWatches {
		switch n := t.at(path); {
		case n == nil:
			send(EventDeleted, path)
		case n.changed > r.Seen:
			send(EventDataChanged, path)
		default:
			w.data.add(path, c, WatchOnce)
		}
	}
	for _, path := range r.ExistWatches {
		if t.at(path) != nil {
			send(EventCreated, path)
		} else {
			w.data.add(path, c, WatchOnce)
		}
	}
	for _, path := range r.ChildWatches {
		switch n := t.at(path); {
		case n == nil:
			send(EventDeleted, path)
		case n.children > r.Seen:
			send(EventChildrenChanged, path)
		default:
			w.child.add(path, c, WatchOnce)
		}
	}
	for mode, paths := range [...][]string{WatchStanding: r.StandingWatches, WatchRecursive: r.RecursiveWatches} {
		for _, path := range paths {
			w.child.add(path, c, WatchMode(mode))
			w.data.add(path, c, WatchMode(mode))
		}
	}
}
