package database_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// mariadbWire speaks the protocol of MySQL and MariaDB: text queries (MariaDB documentation, "Client/Server Protocol").
type mariadbWire struct {
	conn       *net.TCPConn
	in         *bufio.Reader
	sequence   byte
	connection int
}

// capabilities that the client announces: CLIENT_LONG_PASSWORD, CLIENT_FOUND_ROWS not, CLIENT_PROTOCOL_41,
// CLIENT_TRANSACTIONS, CLIENT_SECURE_CONNECTION.
const mariadbCapabilities = 1 | 1<<9 | 1<<13 | 1<<15

const mariadbInTransaction = 1 // SERVER_STATUS_IN_TRANS

func dialMariaDB(address string) (sqlWire, error) {
	conn, err := dialSQL(address)
	if err != nil {
		return nil, err
	}
	w := &mariadbWire{conn: conn, in: bufio.NewReader(conn)}
	greeting, err := w.packet()
	if err != nil {
		return nil, err
	}
	version := 1
	for greeting[version] != 0 {
		version++
	}
	w.connection = int(binary.LittleEndian.Uint32(greeting[version+1:]))
	login := binary.LittleEndian.AppendUint32(nil, mariadbCapabilities)
	login = binary.LittleEndian.AppendUint32(login, 1<<24)
	login = append(login, 45) // utf8mb4
	login = append(login, make([]byte, 23)...)
	login = append(login, "root\x00\x00"...) // and no password
	if err := w.send(login); err != nil {
		return nil, err
	}
	a, err := w.answer()
	if err == nil && a.code != "" {
		err = fmt.Errorf("error %s: %s", a.code, a.text)
	}
	return w, err
}

func (w *mariadbWire) id() int              { return w.connection }
func (w *mariadbWire) socket() *net.TCPConn { return w.conn }
func (w *mariadbWire) ended() bool          { return saysSomething(w.conn, w.in) }

func (w *mariadbWire) query(statement string) (sqlAnswer, error) {
	w.sequence = 0
	if err := w.send(append([]byte{3}, statement...)); err != nil { // COM_QUERY
		return sqlAnswer{}, err
	}
	return w.answer()
}

func (w *mariadbWire) send(body []byte) error {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	head[3] = w.sequence
	w.sequence++
	_, err := w.conn.Write(append(head, body...))
	return err
}

func (w *mariadbWire) packet() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.in, head[:]); err != nil {
		return nil, err
	}
	w.sequence = head[3] + 1
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(w.in, body)
	if err == nil && len(body) == 0 {
		err = errors.New("an empty packet")
	}
	return body, err
}

// Error packets by which the server says that the connection is over: the server shuts down, KILL, the connection was
// aborted, idle for too long.
var mariadbOver = map[string]bool{"1053": true, "1927": true, "1184": true, "4031": true}

func (w *mariadbWire) answer() (a sqlAnswer, err error) {
	body, err := w.packet()
	if err != nil {
		return a, err
	}
	switch body[0] {
	case 0:
		affected, rest := lengthEncoded(body[1:])
		_, rest = lengthEncoded(rest)
		a.affected, a.open = int64(affected), rest[0]&mariadbInTransaction != 0
		return a, nil
	case 255:
		a.code, a.text = strconv.Itoa(int(binary.LittleEndian.Uint16(body[1:]))), string(body[9:])
		if mariadbOver[a.code] {
			return a, errors.New(a.text)
		}
		return a, nil
	}
	return w.resultSet(int(body[0]))
}

// resultSet reads the columns' types, and the rows until the packet that ends them.
func (w *mariadbWire) resultSet(columns int) (a sqlAnswer, err error) {
	a.hasRows = true
	var types []byte
	for range columns {
		body, err := w.packet()
		if err != nil {
			return a, err
		}
		for range 6 { // catalog, schema, table and its name, column and its name
			size, rest := lengthEncoded(body)
			body = rest[size:]
		}
		types = append(types, body[7])
	}
	if _, err := w.packet(); err != nil { // the end of the columns
		return a, err
	}
	for {
		body, err := w.packet()
		switch {
		case err != nil:
			return a, err
		case body[0] == 255:
			return sqlAnswer{code: strconv.Itoa(int(binary.LittleEndian.Uint16(body[1:]))), text: string(body[9:])}, nil
		case body[0] == 254 && len(body) < 9:
			a.open = body[3]&mariadbInTransaction != 0
			return a, nil
		}
		a.rows = append(a.rows, mariadbRow(body, types))
	}
}

func mariadbRow(body, types []byte) (row []string) {
	for _, kind := range types {
		if body[0] == 251 {
			row, body = append(row, "NULL"), body[1:]
			continue
		}
		size, rest := lengthEncoded(body)
		text := string(rest[:size])
		body = rest[size:]
		if kind > 9 { // all smaller ones are numbers (MYSQL_TYPE_INT24)
			text = quoted(text)
		}
		row = append(row, text)
	}
	return row
}

func lengthEncoded(b []byte) (n uint64, rest []byte) {
	switch b[0] {
	case 252:
		return uint64(binary.LittleEndian.Uint16(b[1:])), b[3:]
	case 253:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, b[4:]
	case 254:
		return binary.LittleEndian.Uint64(b[1:]), b[9:]
	default:
		return uint64(b[0]), b[1:]
	}
}
