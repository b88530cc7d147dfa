package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
)

// told sends an operation of DynamoDB to a server, and returns the answer.
func told(t *testing.T, s *object.Server, op, body string) (status int, answer string) {
	t.Helper()
	c := &spoken{Conversation: wire.ObjectStore(), server: s}
	if !c.Receive([]byte(asked("POST", "/", body, "X-Amz-Target: DynamoDB_20120810."+op, "Content-Type: application/x-amz-json-1.0")), c.send) {
		c.answer = c.Farewell()
	}
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(c.answer)), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, "application/x-amz-json-1.0", r.Header.Get("Content-Type"))
	return r.StatusCode, string(text)
}

const conditionFailed = `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}`

// quoted is a text as JSON has it.
func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// written is the body of a write on condition.
func written(what, condition, names, values string) string {
	body := `{"TableName":"locks",` + what
	if condition != "" {
		body += `,"ConditionExpression":` + quoted(condition)
	}
	if names != "" {
		body += `,"ExpressionAttributeNames":` + names
	}
	if values != "" {
		body += `,"ExpressionAttributeValues":` + values
	}
	return body + "}"
}

// TestDynamoDBAnswersAsTheServiceDoes is a conversation with the expressions of dynamolock: the item is made, refused to others, kept
// by a heartbeat, released, taken again, and deleted.
func TestDynamoDBAnswersAsTheServiceDoes(t *testing.T) {
	const (
		key   = `"Key":{"key":{"S":"lock"}}`
		free  = "(attribute_not_exists (#0)) OR ((attribute_exists (#0)) AND (#1 = :0))"
		mine  = "((attribute_exists (#0)) AND (#1 = :0)) AND (#2 = :1)"
		names = `{"#0":"key","#1":"isReleased"}`
		one   = `{":0":{"S":"1"}}`
	)
	item := func(owner, record string) string {
		return `"Item":{"key":{"S":"lock"},"ownerName":{"S":"` + owner + `"},"leaseDuration":{"S":"20s"},"recordVersionNumber":{ "S" : "` + record + `"}}`
	}
	owned := func(owner, record string) string { return `{":0":{"S":"` + record + `"},":1":{"S":"` + owner + `"}` }
	own := `{"#0":"key","#1":"recordVersionNumber","#2":"ownerName"`
	s := object.New(nil)
	for _, x := range []struct {
		op, body string
		status   int
		answer   string
	}{
		{"GetItem", written(key+`,"ConsistentRead":true`, "", "", ""), 200, "{}"},
		{"DeleteItem", written(key, "", "", ""), 200, "{}"},
		{"UpdateItem", written(key+`,"UpdateExpression":"SET #2 = :1"`, mine, own+"}", owned("a", "1")+"}"), 400, conditionFailed},
		{"PutItem", written(item("a", "1"), free, names, one), 200, "{}"},
		{"PutItem", written(item("b", "2"), free, names, one), 400, conditionFailed},
		{"GetItem", written(key+`,"ConsistentRead":true`, "", "", ""), 200,
			`{"Item":{"key":{"S":"lock"},"leaseDuration":{"S":"20s"},"ownerName":{"S":"a"},"recordVersionNumber":{"S":"1"}}}`},
		{"UpdateItem", written(key+`,"UpdateExpression":"SET #3 = :2, #1 = :3\n"`, mine, own+`,"#3":"leaseDuration"}`, owned("a", "1")+`,":2":{"S":"20s"},":3":{"S":"3"}}`), 200, "{}"},
		{"UpdateItem", written(key+`,"UpdateExpression":"SET #3 = :2, #1 = :3\n"`, mine, own+`,"#3":"leaseDuration"}`, owned("a", "1")+`,":2":{"S":"20s"},":3":{"S":"4"}}`), 400, conditionFailed},
		{"UpdateItem", written(key+`,"UpdateExpression":"SET #3 = :2\n"`, mine, own+`,"#3":"isReleased"}`, owned("a", "3")+`,":2":{"S":"1"}}`), 200, "{}"},
		{"GetItem", written(key, "", "", ""), 200,
			`{"Item":{"isReleased":{"S":"1"},"key":{"S":"lock"},"leaseDuration":{"S":"20s"},"ownerName":{"S":"a"},"recordVersionNumber":{"S":"3"}}}`},
		{"PutItem", written(item("b", "5"), free, names, one), 200, "{}"},
		{"PutItem", written(item("c", "6"), "(attribute_exists (#0)) AND (#1 = :0)", `{"#0":"key","#1":"recordVersionNumber"}`, `{":0":{"S":"4"}}`), 400, conditionFailed},
		{"PutItem", written(item("c", "6"), "(attribute_exists (#0)) AND (#1 = :0)", `{"#0":"key","#1":"recordVersionNumber"}`, `{":0":{"S":"5"}}`), 200, "{}"},
		{"UpdateItem", written(key+`,"UpdateExpression":"REMOVE leaseDuration, other SET more = :0"`, "", "", `{":0":{"N":"7"}}`), 200, "{}"},
		{"GetItem", written(key, "", "", ""), 200, `{"Item":{"key":{"S":"lock"},"more":{"N":"7"},"ownerName":{"S":"c"},"recordVersionNumber":{"S":"6"}}}`},
		{"DeleteItem", written(key, mine, own+"}", owned("b", "6")+"}"), 400, conditionFailed},
		{"DeleteItem", written(key, mine, own+"}", owned("c", "6")+"}"), 200, "{}"},
		{"GetItem", written(key, "", "", ""), 200, "{}"},
		{"UpdateItem", written(key+`,"UpdateExpression":"SET a = :0"`, "", "", `{":0":{"BOOL":true}}`), 200, "{}"},
		{"GetItem", written(key, "", "", ""), 200, `{"Item":{"a":{"BOOL":true},"key":{"S":"lock"}}}`},
	} {
		status, answer := told(t, s, x.op, x.body)
		require.Equal(t, x.answer, answer, "%s %s", x.op, x.body)
		require.Equal(t, x.status, status)
	}
}

// TestConditionsAreWhatTheySay on an item whose a is 1, and which has no b. AND binds closer than OR, and NOT than both.
func TestConditionsAreWhatTheySay(t *testing.T) {
	for condition, holds := range map[string]bool{
		"a = :one": true, "a = :two": false, "a <> :two": true, ":one = a": true, "a = a": true, "b = b": false,
		"b = :one": false, "b <> :one": true, "NOT b = :one": true, "not a = :one": false, "NOT (a = :one AND b = :one)": true,
		"a = :one OR a = :two AND a = :two": true, "(a = :one OR a = :two) AND a = :two": false, "NOT a = :two AND a = :one": true,
		"attribute_exists(a)": true, "attribute_exists(b)": false, "ATTRIBUTE_NOT_EXISTS ( b )": true, ":one <> :two": true, "a = :number": false,
	} {
		s := object.New(nil)
		status, answer := told(t, s, "PutItem", written(`"Item":{"key":{"S":"k"},"a":{"S":"1"}}`, "", "", ""))
		require.Equal(t, 200, status, answer)
		values := map[string]string{":one": `":one":{"S":"1"}`, ":two": `":two":{"S":"2"}`, ":number": `":number":{"N":"1"}`}
		var used []string
		for name, value := range values {
			if strings.Contains(condition, name) {
				used = append(used, value)
			}
		}
		given := ""
		if len(used) > 0 {
			given = "{" + strings.Join(used, ",") + "}"
		}
		status, answer = told(t, s, "DeleteItem", written(`"Key":{"key":{"S":"k"}}`, condition, "", given))
		require.Equal(t, holds, status == 200, "%s: %s", condition, answer)
		require.Contains(t, []string{"{}", conditionFailed}, answer)
	}
}

// TestRequestsThatDynamoDBRefuses, in its words, or that the simulation does not have.
func TestRequestsThatDynamoDBRefuses(t *testing.T) {
	const key = `"Key":{"key":{"S":"lock"}}`
	condition := func(text, names, values string) string { return written(key, text, names, values) }
	update := func(text, values string) string {
		return written(key+`,"UpdateExpression":`+quoted(text), "", "", values)
	}
	one := `{":0":{"S":"1"}}`
	for name, x := range map[string]struct{ op, body, says string }{
		"an operation":          {"Query", "{}", "UnknownOperationException"},
		"no JSON":               {"GetItem", "lock", "SerializationException"},
		"no table":              {"GetItem", "{" + key + "}", "Value null at 'tableName'"},
		"no key":                {"GetItem", `{"TableName":"locks"}`, "The provided key element does not match the schema"},
		"another key":           {"GetItem", `{"TableName":"locks","Key":{"id":{"S":"lock"}}}`, "The provided key element does not match the schema"},
		"a sort key":            {"GetItem", `{"TableName":"locks","Key":{"key":{"S":"lock"},"sort":{"S":"x"}}}`, "does not match the schema"},
		"a number as key":       {"GetItem", `{"TableName":"locks","Key":{"key":{"N":"7"}}}`, "does not match the schema"},
		"an item without a key": {"PutItem", `{"TableName":"locks","Item":{"a":{"S":"1"}}}`, "Missing the key key in the item"},
		"an unknown type":       {"PutItem", `{"TableName":"locks","Item":{"key":{"S":"lock"},"a":{"T":"1"}}}`, "exactly one of the supported datatypes"},
		"two types":             {"PutItem", `{"TableName":"locks","Item":{"key":{"S":"lock"},"a":{"S":"1","N":"1"}}}`, "exactly one of the supported datatypes"},
		"an old form":           {"PutItem", `{"TableName":"locks","Item":{"key":{"S":"lock"}},"Expected":{}}`, "has no parameters from before expressions"},
		"what was there":        {"DeleteItem", `{"TableName":"locks",` + key + `,"ReturnValues":"ALL_OLD"}`, "has no ReturnValues ALL_OLD"},
		"a projection":          {"GetItem", `{"TableName":"locks",` + key + `,"ProjectionExpression":"a"}`, "has no projections"},
		"an empty condition":    {"DeleteItem", condition(" ", "", ""), "Invalid ConditionExpression: The expression can not be empty;"},
		"a long condition":      {"DeleteItem", condition(strings.Repeat("(", 5000), "", ""), "expression size: 5000"},
		"deep parentheses":      {"DeleteItem", condition(strings.Repeat("(", 4000), "", ""), `Syntax error; token: \"\u003cEOF\u003e\"`},
		"half a condition":      {"DeleteItem", condition("a =", "", ""), `Syntax error; token: \"\u003cEOF\u003e\"`},
		"two conditions":        {"DeleteItem", condition("a = :0 b = :0", "", one), `Invalid ConditionExpression: Syntax error; token: \"b\", near: \"b =\"`},
		"a sign":                {"DeleteItem", condition("a ! :0", "", one), `Syntax error; token: \"!\"`},
		"no closing":            {"DeleteItem", condition("(a = :0", "", one), `Syntax error; token: \"\u003cEOF\u003e\"`},
		"an undefined name":     {"DeleteItem", condition("#a = :0", "", one), "name used in the document path is not defined; attribute name: #a"},
		"an undefined value":    {"DeleteItem", condition("a = :1", "", one), "value used in expression is not defined; attribute value: :1"},
		"an unused name":        {"DeleteItem", condition("a = :0", `{"#a":"a"}`, one), "ExpressionAttributeNames unused in expressions: keys: {#a}"},
		"an unused value":       {"DeleteItem", condition("attribute_exists(a)", "", one), "ExpressionAttributeValues unused in expressions: keys: {:0}"},
		"names in a read":       {"GetItem", written(key, "", `{"#a":"a"}`, ""), "ExpressionAttributeNames can only be specified when using expressions"},
		"values of nothing":     {"DeleteItem", written(key, "", "", one), "ExpressionAttributeValues can only be specified when using expressions"},
		"an unknown function":   {"DeleteItem", condition("exists(a)", "", ""), "Invalid function name; function: exists"},
		"another function":      {"DeleteItem", condition("begins_with(a, :0)", "", one), "the simulated DynamoDB has no function begins_with"},
		"an order":              {"DeleteItem", condition("a < :0", "", one), `the simulated DynamoDB has no operator \u003c`},
		"a path":                {"DeleteItem", condition("a.b = :0", "", one), "has no attributes within others"},
		"an update of nothing":  {"UpdateItem", update("", ""), "Invalid UpdateExpression: The expression can not be empty;"},
		"an update of the key":  {"UpdateItem", update("SET key = :0", one), "Cannot update attribute key. This attribute is part of the key"},
		"a sum":                 {"UpdateItem", update("SET a = a", ""), "sets attributes to values only, not to a"},
		"an addition":           {"UpdateItem", update("ADD a :0", one), "has no clause ADD"},
		"no clause":             {"UpdateItem", update("a = :0", one), `Invalid UpdateExpression: Syntax error; token: \"a\", near: \"a =\"`},
		"a comma too many":      {"UpdateItem", update("REMOVE a,", ""), `Syntax error; token: \"\u003cEOF\u003e\"`},
	} {
		status, answer := told(t, object.New(nil), x.op, x.body)
		require.Equal(t, 400, status, name)
		require.Contains(t, answer, x.says, name)
	}
}

// TestErrorsThatFaultsInjectAreAmazons: its SDK knows them by their types, and tries again after some.
func TestErrorsThatFaultsInjectAreAmazons(t *testing.T) {
	for text, want := range map[string]string{
		"503 Slow Down": "503 .*ServiceUnavailableException", "500 Internal Error": "500 .*#InternalServerError",
		"409 Conflict": "400 .*#TransactionConflictException", "412 Precondition Failed": "400 .*#ConditionalCheckFailedException",
	} {
		s := &spoken{Conversation: wire.ObjectStore(), server: object.New(nil), hold: true}
		require.True(t, s.Receive([]byte(asked("POST", "/", written(`"Key":{"key":{"S":"lock"}}`, "", "", ""), "X-Amz-Target: DynamoDB_20120810.DeleteItem")), s.send))
		require.Regexp(t, "(?s)^HTTP/1.1 "+want, string(s.Append(nil, object.ErrorResponse(s.held[0], text))))
	}
}

// TestTheFirstRequestTellsWhichAPIItIs: then all others of the connection are of that one.
func TestTheFirstRequestTellsWhichAPIItIs(t *testing.T) {
	s := &spoken{Conversation: wire.ObjectStore(), server: object.New(nil)}
	require.True(t, s.Receive([]byte(asked("GET", leases+"/lock", "")), s.send))
	require.Contains(t, string(s.answer), `"kind":"Status"`)
	require.False(t, s.Receive([]byte(asked("POST", "/", "{}", "X-Amz-Target: DynamoDB_20120810.GetItem")), s.send))
	require.Contains(t, string(s.Farewell()), `"kind":"Status"`)
}

// TestWhatIsWrittenOfAnItemTellsOfTheLock, in the form of the clients for Go and for Java.
func TestWhatIsWrittenOfAnItemTellsOfTheLock(t *testing.T) {
	for value, want := range map[string]wire.Item{
		`{"ownerName":{"S":"a"},"leaseDuration":{"S":"1m0s"}}`: {Owner: "a", Life: time.Minute},
		`{"leaseDuration":{"S":"20000"}}`:                      {Life: 20 * time.Second},
		`{"isReleased":{"S":"1"}}`:                             {Released: true},
		`{"leaseDuration":{"N":"7"}}`:                          {},
		``:                                                     {},
	} {
		require.Equal(t, want, wire.ItemIn(value), fmt.Sprint(value))
	}
}
