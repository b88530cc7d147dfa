package database_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// sqlWire is a connection to a real database server, one statement at a time.
type sqlWire interface {
	query(statement string) (sqlAnswer, error) // an error: the connection is over
	id() int                                   // by which the server knows the session
	socket() *net.TCPConn
	ended() bool // between queries: the server has ended the session
}

// sqlAnswer is what a server answers to a statement.
type sqlAnswer struct {
	rows     [][]string // as the simulated server's values are shown
	hasRows  bool
	affected int64
	code     string // of the error; "" if it succeeded
	text     string
	open     bool // the session is in a transaction
}

// String shows it as the simulated server's is shown, an error by its code alone.
func (a *sqlAnswer) String() string {
	shown := fmt.Sprintf("%d rows", a.affected)
	switch {
	case a.code != "":
		shown = "error " + a.code
	case a.hasRows && len(a.rows) == 0:
		shown = "no row"
	case a.hasRows:
		shown = ""
		for i, row := range a.rows {
			if i > 0 {
				shown += " "
			}
			shown += "(" + strings.Join(row, ", ") + ")"
		}
	case a.affected == 1:
		shown = "1 row"
	}
	if a.open {
		shown += ", in a transaction"
	}
	return shown
}

// quoted shows a text as SQL has it.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// dialSQL opens a connection on which nothing takes longer than a test may.
func dialSQL(address string) (*net.TCPConn, error) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), conn.SetDeadline(time.Now().Add(5 * time.Minute))
}

// saysSomething reports whether something has come on a connection on which nothing is asked. That is its end.
func saysSomething(conn *net.TCPConn, in *bufio.Reader) bool {
	if conn.SetReadDeadline(time.Now().Add(2*time.Millisecond)) != nil {
		return true
	}
	defer func() { _ = conn.SetDeadline(time.Now().Add(5 * time.Minute)) }()
	var late net.Error
	_, err := in.Peek(1)
	return !errors.As(err, &late) || !late.Timeout()
}

// postgresWire speaks PostgreSQL's protocol: simple queries, answers as text (PostgreSQL documentation, "Frontend/Backend
// Protocol").
type postgresWire struct {
	conn *net.TCPConn
	in   *bufio.Reader
	pid  int
}

// The types of columns whose values the simulated server shows otherwise than as quoted text (pg_type.dat).
const (
	postgresBool = 16
	postgresInt8 = 20
	postgresInt4 = 23
	postgresVoid = 2278
)

func dialPostgres(address string) (sqlWire, error) {
	conn, err := dialSQL(address)
	if err != nil {
		return nil, err
	}
	w := &postgresWire{conn: conn, in: bufio.NewReader(conn)}
	startup := "\x00\x03\x00\x00user\x00postgres\x00\x00"
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(startup)+4)), startup...)); err != nil {
		return nil, err
	}
	a, err := w.answer()
	if err == nil && a.code != "" {
		err = fmt.Errorf("error %s: %s", a.code, a.text)
	}
	return w, err
}

func (w *postgresWire) id() int              { return w.pid }
func (w *postgresWire) socket() *net.TCPConn { return w.conn }
func (w *postgresWire) ended() bool          { return saysSomething(w.conn, w.in) }

func (w *postgresWire) query(statement string) (sqlAnswer, error) {
	message := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(len(statement)+5))
	if _, err := w.conn.Write(append(append(message, statement...), 0)); err != nil {
		return sqlAnswer{}, err
	}
	return w.answer()
}

// answer reads until the server is ready for the next query.
func (w *postgresWire) answer() (a sqlAnswer, err error) {
	var types []uint32
	for {
		var head [5]byte
		if _, err := io.ReadFull(w.in, head[:]); err != nil {
			return a, err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(w.in, body); err != nil {
			return a, err
		}
		switch head[0] {
		case 'K':
			w.pid = int(binary.BigEndian.Uint32(body))
		case 'T':
			types, a.hasRows = postgresTypes(body), true
		case 'D':
			a.rows = append(a.rows, postgresRow(body, types))
		case 'C':
			words := strings.Fields(strings.TrimRight(string(body), "\x00"))
			if n, err := strconv.ParseInt(words[len(words)-1], 10, 64); err == nil && !a.hasRows {
				a.affected = n
			}
		case 'E':
			a = sqlAnswer{code: postgresField(body, 'C'), text: postgresField(body, 'M')}
			if severity := postgresField(body, 'V'); severity != "ERROR" {
				return a, fmt.Errorf("%s %s: %s", severity, a.code, a.text)
			}
		case 'Z':
			a.open = body[0] != 'I'
			return a, nil
		}
	}
}

func postgresTypes(body []byte) (types []uint32) {
	for body = body[2:]; len(body) > 0; body = body[18:] {
		for body[0] != 0 {
			body = body[1:]
		}
		body = body[1:]
		types = append(types, binary.BigEndian.Uint32(body[6:]))
	}
	return types
}

func postgresRow(body []byte, types []uint32) (row []string) {
	body = body[2:]
	for _, kind := range types {
		size := int32(binary.BigEndian.Uint32(body))
		body = body[4:]
		if size < 0 {
			row = append(row, "NULL")
			continue
		}
		text := string(body[:size])
		body = body[size:]
		switch kind {
		case postgresVoid:
			text = "NULL"
		case postgresBool:
			text = map[string]string{"t": "1", "f": "0"}[text]
		case postgresInt4, postgresInt8:
		default:
			text = quoted(text)
		}
		row = append(row, text)
	}
	return row
}

// postgresField returns a field of an error.
func postgresField(body []byte, field byte) string {
	for _, f := range strings.Split(string(body), "\x00") {
		if f != "" && f[0] == field {
			return f[1:]
		}
	}
	return ""
}
