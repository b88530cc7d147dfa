//go:build unix

package command

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/locksim/locksim/history"
	"github.com/locksim/locksim/internal/workload"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
)

// A program that does not speak at all accesses the protected resource itself, over HTTP, at the address in LOCKSIM_RESOURCE:
//
//	GET /resource/0?token=33&value=abc     reads a register; the answer is its version
//	PUT /resource/0                        writes it; token and value in the address or, as a form, in the body
//
// 200 is done, 409 that the resource has refused it, by its fencing mode; a connection that is closed without an answer leaves
// open what the resource has done. Of several registers any name that is not the number of one is the first. The program ends with status 0
// when its work is done; with another one it says that it could not do it, as scripts do.

// witness is what a host offers for programs that say nothing, see package harness.
type witness interface {
	Asks(t *sim.Task, request sim.Payload)
	Asked() bool
	Access(op history.Op, register int, l locks.Lease) (accepted bool, version uint64, err error)
	GivesUp(why string)
}

// resource is the address of the listener for accesses.
const resource = "resource"

// mostRequest is how long a request may be, in bytes.
const mostRequest = 64 << 10

// demand is a request to the resource.
type demand struct {
	from *socket
	http.Request
}

// silent waits until the program says something, and reports whether it is one that never does: it accesses the resource, or
// talks to the lock's servers and says nothing for as long as a program may take until it is ready.
func (p *process) silent() bool {
	for {
		switch {
		case len(p.said) > 0:
			p.speaks = true
			return false
		case len(p.demands) > 0:
			return true
		case p.exit != nil:
			return p.exit.Code == 0 && p.exit.Reason == "" && p.witness().Asked()
		}
		p.heard = sim.Signal{}
		if p.task.Wait(readiness, &p.heard, &p.gone) < 0 {
			return p.witness().Asked()
		}
	}
}

func (p *process) witness() witness { return p.host.(witness) }

// serve carries out accesses to the resource until the program ends. The result is how it ended; nil after its work.
func (p *process) serve(a *workload.Assignment) error {
	for {
		for len(p.demands) > 0 {
			next := p.demands[0]
			p.demands = p.demands[1:]
			p.access(a, &next)
		}
		switch {
		case len(p.said) > 0:
			p.quit(fmt.Sprintf("it says %q, after it has accessed the lock or the resource without saying ready", p.said[0].Word))
		case p.exit != nil && p.exit.Reason == "":
			if p.exit.Code != 0 {
				p.witness().GivesUp(p.exit.What())
			}
			return nil
		}
		p.mustLive()
		p.heard = sim.Signal{}
		p.task.Wait(sim.Forever, &p.heard, &p.gone)
	}
}

// stamp sets the origin of a request to a server.
func (p *process) stamp(t *sim.Task, request sim.Payload) {
	if !p.speaks {
		p.witness().Asks(t, request)
	}
	p.host.Stamp(request)
}

// request takes the requests that have arrived whole.
func (p *process) request(s *socket) {
	for len(s.in) > 0 {
		rest := bytes.NewReader(s.in)
		buffer := bufio.NewReader(rest)
		r, err := http.ReadRequest(buffer)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(r.Body)
		}
		switch {
		case (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && len(s.in) <= mostRequest:
			return
		case err != nil:
			s.in = nil
			p.answer(s, http.StatusBadRequest, fmt.Sprintf("no request of HTTP with at most %d bytes: %s", mostRequest, err))
			s.ends = true
			return
		}
		s.in = s.in[len(s.in)-rest.Len()-buffer.Buffered():]
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.demands = append(p.demands, demand{s, *r})
		p.heard.Fire()
	}
}

// access carries out a request.
func (p *process) access(a *workload.Assignment, d *demand) {
	register, shown, err := demanded(d, a.Plan.Registers)
	if err != nil {
		p.answer(d.from, http.StatusBadRequest, err.Error())
		return
	}
	var ops []history.Op
	switch {
	case d.Method == http.MethodGet:
		ops = []history.Op{history.Read}
	case d.Method != http.MethodPut:
		p.answer(d.from, http.StatusMethodNotAllowed, "want GET or PUT, not "+d.Method)
		return
	case a.Plan.Fencing == history.CheckThenWrite:
		ops = []history.Op{history.Check, history.Write}
	default:
		ops = []history.Op{history.Write}
	}
	version, accepted := uint64(0), true
	for _, op := range ops {
		if accepted, version, err = p.witness().Access(op, register, shown); err != nil || !accepted {
			break
		}
	}
	switch {
	case err != nil:
		d.from.ends, d.from.resets = true, true
		p.wake.Fire()
	case !accepted:
		p.answer(d.from, http.StatusConflict, "the resource has refused this")
	case d.Method == http.MethodGet:
		p.answer(d.from, http.StatusOK, strconv.FormatUint(version, 10))
	default:
		p.answer(d.from, http.StatusOK, "written")
	}
}

// demanded reads which register a request is about, and what it shows of the client's lease.
func demanded(d *demand, registers int) (register int, l locks.Lease, err error) {
	name, ok := strings.CutPrefix(d.URL.Path, "/resource/")
	if !ok || name == "" || strings.Contains(name, "/") {
		return 0, l, fmt.Errorf("there is no %s; want /resource/NAME", d.URL.Path)
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n < registers {
		register = n
	}
	if err := d.ParseForm(); err != nil {
		return 0, l, err
	}
	l.Value = d.Form.Get("value")
	if token := d.Form.Get("token"); token != "" {
		if l.Token, err = strconv.ParseUint(token, 10, 64); err != nil || l.Token == 0 {
			return 0, l, fmt.Errorf("a token is a number from 1 on, not %q", token)
		}
	}
	return register, l, nil
}

// answer answers a request.
func (p *process) answer(s *socket, status int, text string) {
	s.out = fmt.Appendf(s.out, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\n",
		status, http.StatusText(status), len(text)+1, text)
	p.wake.Fire()
}
