package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// protoTypes are the messages and enumerations of a definition, by name.
type protoTypes map[string][]protoField

// protoField is a field of a message, or a value of an enumeration.
type protoField struct {
	kind     string // "bytes", "string", "bool", "int32", "int64", "uint64", or a type of the definition; "" of a value
	name     string
	number   uint64
	repeated bool
}

// definition reads messages and enumerations, one field a line.
func definition(text string) protoTypes {
	types := protoTypes{}
	in := ""
	for line := range strings.Lines(text) {
		words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), ";"))
		switch {
		case len(words) < 3 || words[0] == "//":
		case words[2] == "{":
			in = words[1]
			types[in] = nil
		default:
			f := protoField{repeated: words[0] == "repeated", name: words[len(words)-3]}
			if n := len(words) - 4; n >= 0 {
				f.kind = words[n]
			}
			f.number, _ = strconv.ParseUint(words[len(words)-1], 10, 29)
			types[in] = append(types[in], f)
		}
	}
	return types
}

// The wire types of protocol buffers (protobuf.dev/programming-guides/encoding).
const (
	protoVarint  = 0
	protoFixed64 = 1
	protoBytes   = 2
	protoFixed32 = 5
)

var errProto = errors.New("the bytes are no message of a protocol buffer")

// json returns a message in JSON, as grpc-gateway would have been given it. Unknown fields are left out; of a field that is there
// twice and is not repeated, the last one counts.
func (t protoTypes) json(message string, b []byte) ([]byte, error) {
	found := map[string][]json.RawMessage{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errProto
		}
		number, body, length := uint64(0), []byte(nil), 0
		switch b = b[n:]; tag & 7 {
		case protoVarint:
			number, length = binary.Uvarint(b)
			n = length
		case protoFixed64:
			n = 8
		case protoFixed32:
			n = 4
		case protoBytes:
			number, length = binary.Uvarint(b)
			if length <= 0 || number > uint64(len(b)-length) {
				return nil, errProto
			}
			n = length + int(number)
			body = b[length:n]
		default:
			return nil, errProto
		}
		if n <= 0 || n > len(b) {
			return nil, errProto
		}
		b = b[n:]
		i := slices.IndexFunc(t[message], func(f protoField) bool { return f.number == tag>>3 })
		if i < 0 {
			continue
		}
		f := &t[message][i]
		values, err := t.values(f, tag&7, number, body)
		if err != nil {
			return nil, err
		}
		found[f.name] = append(found[f.name], values...)
	}
	fields := map[string]any{}
	for _, f := range t[message] {
		switch values := found[f.name]; {
		case len(values) == 0:
		case f.repeated:
			fields[f.name] = values
		default:
			fields[f.name] = values[len(values)-1]
		}
	}
	return json.Marshal(fields)
}

// values returns the values that one field has in JSON: several if it is a packed list.
func (t protoTypes) values(f *protoField, wire, number uint64, body []byte) ([]json.RawMessage, error) {
	switch _, nested := t[f.kind]; {
	case wire == protoVarint && f.kind == "bool":
		return []json.RawMessage{strconv.AppendBool(nil, number != 0)}, nil
	case wire == protoVarint && (f.kind == "int32" || f.kind == "int64"):
		return []json.RawMessage{strconv.AppendInt(nil, int64(number), 10)}, nil
	case wire == protoBytes && nested:
		text, err := t.json(f.kind, body)
		return []json.RawMessage{text}, err
	case wire == protoBytes && f.kind == "bytes":
		text, err := json.Marshal(body)
		return []json.RawMessage{text}, err
	case wire == protoBytes && f.kind == "int32":
		var list []json.RawMessage
		for len(body) > 0 {
			v, n := binary.Uvarint(body)
			if n <= 0 {
				return nil, errProto
			}
			list, body = append(list, strconv.AppendInt(nil, int64(v), 10)), body[n:]
		}
		return list, nil
	}
	return nil, errProto
}

// message encodes a message that is given in JSON.
func (t protoTypes) message(name string, text []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	var b []byte
	for _, f := range t[name] {
		value, ok := fields[f.name]
		if !ok {
			continue
		}
		values := []json.RawMessage{value}
		if f.repeated {
			if err := json.Unmarshal(value, &values); err != nil {
				return nil, err
			}
		}
		for _, v := range values {
			var err error
			if b, err = t.append(b, &f, v); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// append encodes one value of a field.
func (t protoTypes) append(dst []byte, f *protoField, v json.RawMessage) ([]byte, error) {
	text := string(bytes.Trim(v, `"`))
	number, body, err := uint64(0), []byte(nil), error(nil)
	inner, defined := t[f.kind]
	enumeration := len(inner) > 0 && inner[0].kind == ""
	switch {
	case enumeration:
		number = inner[slices.IndexFunc(inner, func(one protoField) bool { return one.name == text })].number
	case defined:
		body, err = t.message(f.kind, v)
	case f.kind == "bytes":
		body, err = base64.StdEncoding.DecodeString(text)
	case f.kind == "string":
		var s string
		err = json.Unmarshal(v, &s)
		body = []byte(s)
	case f.kind == "bool":
		number = 1 // false is left out
	case f.kind == "uint64":
		number, err = strconv.ParseUint(text, 10, 64)
	default:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		number = uint64(n)
	}
	if err != nil {
		return nil, err
	}
	if defined && !enumeration || f.kind == "bytes" || f.kind == "string" {
		dst = binary.AppendUvarint(dst, f.number<<3|protoBytes)
		return append(binary.AppendUvarint(dst, uint64(len(body))), body...), nil
	}
	return binary.AppendUvarint(binary.AppendUvarint(dst, f.number<<3|protoVarint), number), nil
}
