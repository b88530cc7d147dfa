package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/locksim/locksim/sim"
)

// Control does what lines say to servers, while Serve goes on, and answers each with a line of its own, until there are no more:
//
//	crash redis-1     its process ends as by kill -9: connections end, and new ones are refused
//	restart redis-1   it begins again, at the same address, with what is left on its disk
//	pause redis-1     it does nothing more, and connections to it stay
//	resume redis-1
//
// An answer repeats the line when that is done, or begins with "error: ". The error says that lines could not be read or answers not written.
func (w *World) Control(ctx context.Context, lines io.Reader, answers io.Writer) error {
	in := bufio.NewScanner(lines)
	for in.Scan() {
		if strings.TrimSpace(in.Text()) == "" {
			continue
		}
		answer := strings.Join(strings.Fields(in.Text()), " ")
		var err error
		if !w.act(ctx, func() { err = w.told(ctx, strings.Fields(in.Text())) }) {
			return nil
		}
		if err != nil {
			answer = "error: " + err.Error()
		}
		if _, err := fmt.Fprintln(answers, answer); err != nil {
			return err
		}
	}
	return in.Err()
}

// told does what the words of a line say.
func (w *World) told(ctx context.Context, words []string) error {
	if len(words) != 2 {
		return errors.New("want crash, restart, pause or resume, and the name of a server, such as crash " + w.fronts[0].server.Name)
	}
	i := slices.IndexFunc(w.fronts, func(f front) bool { return f.server.Name == words[1] })
	if i < 0 {
		return fmt.Errorf("there is no server %q; want %s to %s", words[1], w.fronts[0].server.Name, w.fronts[len(w.fronts)-1].server.Name)
	}
	heal, up := w.down[i], w.fronts[i].server.Up()
	switch words[0] {
	case "crash":
		return w.crash(i)
	case "pause":
		if heal != nil {
			return fmt.Errorf("%s is paused or has crashed already", words[1])
		}
		w.down[i] = w.engine.Strike(w.fronts[i].server, sim.Pause)
	case "restart", "resume":
		if heal == nil || up == (words[0] == "restart") {
			return fmt.Errorf("%s has not been %s", words[1], map[string]string{"restart": "crashed", "resume": "paused"}[words[0]])
		}
		if words[0] == "restart" {
			if err := w.listenAgain(ctx, i); err != nil {
				return err
			}
		}
		heal()
		delete(w.down, i)
	default:
		return fmt.Errorf("there is no %q; want crash, restart, pause or resume", words[0])
	}
	return nil
}

// crash ends a server's process, also one that is paused, and closes its socket.
func (w *World) crash(i int) error {
	server := w.fronts[i].server
	if !server.Up() {
		return fmt.Errorf("%s has crashed already", server.Name)
	}
	w.down[i] = w.engine.Strike(server, sim.Crash)
	return w.listeners[i].Close()
}

// listenAgain opens a server's socket where it was.
func (w *World) listenAgain(ctx context.Context, i int) error {
	l, err := net.Listen("tcp", w.listeners[i].Addr().String())
	if err != nil {
		return err
	}
	w.listeners[i] = l
	w.conns.Go(func() { w.accept(ctx, l, w.fronts[i]) })
	return nil
}
