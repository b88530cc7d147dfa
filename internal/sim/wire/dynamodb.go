package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
)

// ObjectStore returns a conversation in one of the APIs of an object store, which the first request tells: DynamoDB's, whose
// requests name their operation in X-Amz-Target, that of Kubernetes by its paths, or S3's.
func ObjectStore() Conversation {
	return &web{choose: func(r *httpRequest) api {
		switch {
		case r.header.Get("X-Amz-Target") != "":
			return dynamoDB{}
		case strings.HasPrefix(r.url.Path, "/apis/") || strings.HasPrefix(r.url.Path, "/api/"):
			return kubernetes{}
		default:
			return s3{}
		}
	}}
}

// dynamoDB is DynamoDB's API (version 2012-08-10), as far as locks go: an item is read, put, updated and deleted, on conditions.
// Every table exists, and has a partition key that is called key and is a string. An item is an object of the store, named
// TABLE/KEY.
//
// Left out: signatures, which are not checked; eventually consistent reads, which are answered as consistent ones; capacity;
// batches, transactions, queries; numbers are compared as they are written. What an expression can say besides is refused.
type dynamoDB struct{}

const (
	dynamoVersion = "DynamoDB_20120810."
	dynamoKey     = "key"
	dynamoKind    = "application/x-amz-json-1.0"
)

// attributes are those of an item, by name: each an object with one member, which is the type. The bytes of equal ones are equal.
type attributes map[string]json.RawMessage

// dynamoBody is the parameters of a request.
type dynamoBody struct {
	TableName                                                   string
	Key, Item                                                   attributes        `json:",omitempty"`
	ConditionExpression, UpdateExpression, ProjectionExpression *string           `json:",omitempty"`
	ExpressionAttributeNames                                    map[string]string `json:",omitempty"`
	ExpressionAttributeValues                                   attributes        `json:",omitempty"`
	ReturnValues                                                string            `json:",omitempty"`

	// Older forms of expressions.
	Expected, AttributeUpdates, AttributesToGet json.RawMessage `json:",omitempty"`
}

// itemWrite is a write of an item.
type itemWrite struct {
	text  string                // all of the request
	holds func(attributes) bool // nil without a condition
	item  attributes            // what is put; of an update, the key and what is set
	drops []string              // what an update removes
	puts  bool                  // it is no update: nothing of the item before is left
}

// Holds reports whether the condition holds for an item.
func (w *itemWrite) Holds(value string) bool { return w.holds == nil || w.holds(attributesIn(value)) }

// Written is the item after the write.
func (w *itemWrite) Written(value string) string {
	item := attributes{}
	if !w.puts {
		item = attributesIn(value)
	}
	maps.Copy(item, w.item)
	for _, name := range w.drops {
		delete(item, name)
	}
	text, _ := json.Marshal(item) // of what was read from JSON; in the order of names
	return string(text)
}

// String is the whole request.
func (w *itemWrite) String() string { return w.text }

// attributesIn reads the item that is the value of an object.
func attributesIn(value string) attributes {
	item := attributes{}
	_ = json.Unmarshal([]byte(value), &item) // nothing, or what was written as such
	return item
}

// Item is an item of a lock client, as far as a lock can be understood by it: that of AWS's own client, whose attributes clients for
// other languages have, too.
type Item struct {
	Owner    string
	Life     time.Duration // how long others leave the item alone when it has not changed
	Released bool
}

// ItemIn reads what is written of an item.
func ItemIn(value string) Item {
	written := attributesIn(value)
	text := func(name string) string {
		var a struct{ S string }
		_ = json.Unmarshal(written[name], &a)
		return a.S
	}
	life, err := time.ParseDuration(text("leaseDuration")) // as in Go; in Java it is a number of milliseconds
	if err != nil {
		ms, _ := strconv.ParseInt(text("leaseDuration"), 10, 64)
		life = time.Duration(ms) * time.Millisecond
	}
	_, released := written["isReleased"]
	return Item{Owner: text("ownerName"), Life: life, Released: released}
}

// request translates a request.
func (dynamoDB) request(r *httpRequest) (sim.Payload, *page) {
	op, known := strings.CutPrefix(r.header.Get("X-Amz-Target"), dynamoVersion)
	if !known || r.method != "POST" || r.url.Path != "/" || !slices.Contains([]string{"GetItem", "PutItem", "UpdateItem", "DeleteItem"}, op) {
		return nil, amazonError(statusBadRequest, "com.amazon.coral.service#UnknownOperationException", "")
	}
	var b dynamoBody
	if err := json.Unmarshal(r.body, &b); err != nil {
		return nil, amazonError(statusBadRequest, "com.amazon.coral.service#SerializationException", err.Error())
	}
	o := &object.Request{Op: object.Put}
	if refused := b.check(op); refused != nil {
		return nil, refused
	}
	text, _ := json.Marshal(&b) // in the order of names
	w := &itemWrite{text: op + " " + string(text), item: b.Item, puts: op == "PutItem"}
	o.Item, o.Name = w, b.TableName+"/"+cmp.Or(keyOf(b.Key), keyOf(b.Item))
	switch op {
	case "GetItem":
		o.Op = object.Get
		return o, nil
	case "DeleteItem":
		o.Op = object.Delete
	}
	if refused := b.compile(w, op == "UpdateItem"); refused != nil {
		return nil, refused
	}
	if b.ConditionExpression != nil {
		o.When = object.IfItem
	}
	if o.Op == object.Put {
		o.Value = w.Written("")
	}
	return o, nil
}

// check refuses parameters that are not as the operation needs them, and makes the bytes of equal attributes equal.
func (b *dynamoBody) check(op string) *page {
	given, wrong := b.Key, "The provided key element does not match the schema"
	if op == "PutItem" {
		given, wrong = b.Item, "One or more parameter values were invalid: Missing the key "+dynamoKey+" in the item"
	}
	for _, list := range [...]attributes{b.Key, b.Item, b.ExpressionAttributeValues} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			plain, ok := plainAttribute(list[name])
			if !ok {
				return invalidRequest("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
			}
			list[name] = plain
		}
	}
	lacks := func(what string) *page { return invalidRequest("the simulated DynamoDB has no %s", what) }
	switch {
	case b.TableName == "":
		return invalidRequest("1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null")
	case keyOf(given) == "" || op != "PutItem" && len(given) != 1:
		return invalidRequest("%s", wrong)
	case b.Expected != nil || b.AttributeUpdates != nil || b.AttributesToGet != nil:
		return lacks("parameters from before expressions")
	case b.ProjectionExpression != nil:
		return lacks("projections")
	case b.ConditionExpression == nil && b.UpdateExpression == nil && b.ExpressionAttributeNames != nil:
		return invalidRequest("ExpressionAttributeNames can only be specified when using expressions")
	case b.ConditionExpression == nil && b.UpdateExpression == nil && b.ExpressionAttributeValues != nil:
		return invalidRequest("ExpressionAttributeValues can only be specified when using expressions")
	case b.ReturnValues != "" && b.ReturnValues != "NONE":
		return lacks("ReturnValues " + b.ReturnValues)
	default:
		return nil
	}
}

// plainAttribute checks an attribute, and writes it as equal ones are written.
func plainAttribute(raw json.RawMessage) (json.RawMessage, bool) {
	var of map[string]any
	types := []string{"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&of) != nil || len(of) != 1 {
		return nil, false
	}
	if !slices.ContainsFunc(types, func(name string) bool { _, has := of[name]; return has }) {
		return nil, false
	}
	plain, err := json.Marshal(of)
	return plain, err == nil
}

// keyOf returns the partition key among attributes; "" if there is none.
func keyOf(of attributes) string {
	var key struct{ S string }
	_ = json.Unmarshal(of[dynamoKey], &key)
	return key.S
}

// answer translates an answer.
func (dynamoDB) answer(p sim.Payload) (sim.Payload, *page) {
	a := p.(*object.Response)
	r := a.Request
	switch {
	case a.Result == object.Failed:
		return r, amazonError(statusBadRequest, amazonModel+"ConditionalCheckFailedException", "The conditional request failed")
	case a.Result == object.Refused:
		return r, amazonRefusal(a.Value)
	case r.Op == object.Get && a.Result == object.OK:
		return r, &page{status: statusOK, kind: dynamoKind, body: []byte(`{"Item":` + a.Value + `}`)}
	default:
		return r, &page{status: statusOK, kind: dynamoKind, body: []byte("{}")}
	}
}

const amazonModel = "com.amazonaws.dynamodb.v20120810#"

// amazonRefusal is an injected error, whose text begins with its status.
func amazonRefusal(text string) *page {
	switch status, _, _ := strings.Cut(text, " "); status {
	case "409":
		return amazonError(statusBadRequest, amazonModel+"TransactionConflictException", "Transaction is ongoing for the item")
	case "503":
		return amazonError(statusUnavailable, "com.amazon.coral.availability#ServiceUnavailableException", "The service is temporarily unavailable")
	default:
		return amazonError(statusInternal, amazonModel+"InternalServerError", "Internal server error")
	}
}

// amazonError is an error of the service.
func amazonError(status int, kind, message string) *page {
	body := map[string]string{"__type": kind}
	if message != "" {
		body["message"] = message
	}
	text, _ := json.Marshal(body)
	return &page{status: status, kind: dynamoKind, body: text}
}

// invalidRequest is the answer to a request that is not valid.
func invalidRequest(format string, args ...any) *page {
	return amazonError(statusBadRequest, "com.amazon.coral.validate#ValidationException", fmt.Sprintf(format, args...))
}
