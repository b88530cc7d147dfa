package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// leaseWatch is a watch beside the other requests of a conversation. The line WATCH PATH begins it, and READ ends it, and is answered with
// all that it was told of.
type leaseWatch struct {
	body   io.ReadCloser // nil: there is none
	lease  string        // which is among those that it is for
	garble func(line string) string
}

// stop ends the watch.
func (s *leaseSide) stop(t require.TestingT) {
	if s.watch.body != nil {
		require.NoError(t, s.watch.body.Close())
		s.watch.body = nil
	}
}

var selected = regexp.MustCompile(`metadata.name(?:=|%3D)(\w+)`)

// begins begins a watch. The mark is the last write before it, so that what is there is told without what was deleted.
func (s *leaseSide) begins(t require.TestingT, path string) string {
	s.stop(t)
	s.watch.lease = "a"
	if name := selected.FindStringSubmatch(path); name != nil {
		s.watch.lease = name[1]
	}
	s.mark(t, "z")
	s.settle(t)
	a, err := s.send("GET " + strings.Replace(path, "~", leasesAt, 1))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.StatusCode, path)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, []string{"chunked"}, a.TransferEncoding)
	s.watch.body = a.Body
	return "200"
}

// saw notes a version that was shown; "" if there is none, as in trial runs.
func (s *leaseSide) saw(version string) {
	n, _ := strconv.ParseUint(version, 10, 64)
	s.last = max(s.last, n)
}

// settle waits until a real server's cache, from which it answers who asks for resourceVersion 0, has what was shown last.
func (s *leaseSide) settle(t require.TestingT) {
	a, body := s.do(t, fmt.Sprintf("GET %s/z?resourceVersion=%d", leasesAt, s.last))
	require.Contains(t, []int{http.StatusOK, http.StatusNotFound}, a.StatusCode, body)
}

// mark deletes a lease and makes it again, with an annotation that no other has.
func (s *leaseSide) mark(t require.TestingT, name string) {
	s.do(t, "DELETE "+leasesAt+"/"+name)
	a, body := s.do(t, fmt.Sprintf(`POST %s < {"metadata":{"name":%q,"annotations":{"mark":"%d"}}}`, leasesAt, name, s.asked))
	require.Equal(t, http.StatusCreated, a.StatusCode, body)
	var made leaseAnswer
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	s.saw(made.Metadata.ResourceVersion)
}

// sees returns all that the watch has been told of, up to a mark, or to its end.
func (s *leaseSide) sees(t require.TestingT) string {
	if s.watch.body == nil {
		return "none"
	}
	s.mark(t, s.watch.lease)
	var told []string
	for in := bufio.NewScanner(s.watch.body); in.Scan(); {
		line := in.Text()
		if s.watch.garble != nil {
			line = s.watch.garble(line)
		}
		for text := range strings.Lines(line) {
			told = append(told, s.event(t, text))
		}
		if strings.Contains(in.Text(), fmt.Sprintf(`"name":%q`, s.watch.lease)) && strings.Contains(in.Text(), fmt.Sprintf(`{"mark":"%d"}`, s.asked)) {
			break
		}
	}
	s.stop(t)
	return strings.Join(told, " || ")
}

// event is a line of the answer to a watch.
func (s *leaseSide) event(t require.TestingT, text string) string {
	var event struct {
		Type   string
		Object json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(text), &event), text)
	return event.Type + " " + s.shown(t, event.Object)
}

// drawWatch draws what ends a watch, and begins another one.
func drawWatch(t *rapid.T, number int) []string {
	one := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "one") }
	version := one("0", "@va", "@vb", "@v"+strconv.Itoa(rapid.IntRange(max(1, number-15), max(1, number)).Draw(t, "past")))
	return []string{"READ", "WATCH ~?resourceVersion=" + version + one("&watch=1", "&watch=true", "&watch=") + one("", "", "&fieldSelector=metadata.name=a", "&fieldSelector=metadata.name%3Db")}
}

// watchesWritten is a conversation with watches.
var watchesWritten = []string{
	`POST ~ < {"metadata":{"name":"a"},"spec":{"holderIdentity":"a"}}`,
	`POST ~ < {"metadata":{"name":"b","labels":{"x":"1"}},"spec":{"holderIdentity":"a"}}`,
	`WATCH ~?watch=1&resourceVersion=0`,
	`PUT ~/a < {"metadata":{"name":"a","resourceVersion":"@va"},"spec":{"holderIdentity":"b"}}`,
	`PUT ~/a < {"metadata":{"name":"a","resourceVersion":"@va"},"spec":{"holderIdentity":"b"}}`, // writes nothing
	`PUT ~/a < {"metadata":{"name":"a","resourceVersion":"@v1"},"spec":{"holderIdentity":"c"}}`, // too late
	`DELETE ~/b`,
	`PUT ~/b < {"metadata":{"name":"b"},"spec":{"holderIdentity":"d"}}`,
	`READ`,
	`WATCH ~?watch=true&resourceVersion=@v1&allowWatchBookmarks=true`,
	`READ`,
	`WATCH ~?watch=1&resourceVersion=@v2&fieldSelector=metadata.name%3Db`,
	`PUT ~/a < {"metadata":{"name":"a","resourceVersion":"@va"},"spec":{"holderIdentity":"e"}}`,
	`DELETE ~/b`,
	`READ`,
	`GET ~?watch=1&resourceVersion=@v2&timeoutSeconds=1&fieldSelector=metadata.name=b`,
	`GET ~?watch=1&resourceVersion=x`,
	`GET ~?watch=1&timeoutSeconds=x`,
	`GET ~?watch=1&fieldSelector=spec.x=b`,
	`GET ~?watch=1&fieldSelector=metadata.name`,
	`GET ~?watch=False&fieldSelector=metadata.name=b`,
	`GET ~?watch=0&fieldSelector=metadata.name=b,metadata.name=a`,
	`GET ~?resourceVersion=x`,
	`GET ~?limit=1&resourceVersion=0`,
	`GET ~?limit=x`,
	`GET ~/a?watch=1`,
	`GET ~/a?resourceVersion=x`,
}

// TestTheComparisonWithKubeAPIServerSeesPlantedEvents plays the recorded conversations with watches that are told something else.
func TestTheComparisonWithKubeAPIServerSeesPlantedEvents(t *testing.T) {
	for name, mistake := range map[string][2]string{
		"nothing":                           {"^$", ""},
		"a deletion is not told":            {`^{"type":"DELETED".*`, ""},
		"a change is not told":              {`^{"type":"MODIFIED".*`, ""},
		"a change is told twice":            {`^{"type":"MODIFIED".*`, "$0\n$0"},
		"a change is an addition":           {`^{"type":"MODIFIED"`, `{"type":"ADDED"`},
		"an addition is a change":           {`^{"type":"ADDED"`, `{"type":"MODIFIED"`},
		"a deletion is a change":            {`^{"type":"DELETED"`, `{"type":"MODIFIED"`},
		"a holder is another":               {`"holderIdentity":"b"`, `"holderIdentity":"a"`},
		"a deletion has no version its own": {`^({"type":"DELETED".*"resourceVersion":")\d+`, "${1}1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := simulatedLeases(t)
			is := regexp.MustCompile(mistake[0])
			wrong.watch.garble = func(line string) string { return is.ReplaceAllString(line, mistake[1]) }
			watches := readConversations(t, leases.record)[1]
			require.Equal(t, watchesWritten[0], watches[0].request)
			wrong.begin(t)
			differs := slices.ContainsFunc(watches, func(x exchange) bool { return wrong.ask(t, x.request) != x.answer })
			require.Equal(t, name != "nothing", differs)
		})
	}
}
