package serve_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/long"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/serve"
	"github.com/locksim/locksim/internal/sim/object"
)

// unlikeMinIO are the differences from MinIO that are known. The simulated server is S3, by its documentation and by what has been recorded
// of it (TestS3AnswersConditionsAsTheServiceHasBeenRecorded).
var unlikeMinIO = map[string]difference{
	"MinIO does not look at the condition of a deletion": {
		"^DELETE .* If-Match: ", "^(412 . PreconditionFailed|404 . NoSuchKey)$", "^204$",
		"S3 deletes on the condition of an ETag or of * (User Guide, How to perform conditional deletes)",
	},
	"MinIO does not look at If-None-Match of a deletion": {
		"^DELETE .* If-None-Match: ", "^501 . NotImplemented$", "^204$", "DeleteObject has no such parameter: what would be meant by it is refused",
	},
	"MinIO overwrites on the condition that there is anything": {
		`^PUT [^|]* . If-Match: \* <`, "^501 . NotImplemented$", "^(200|404|412)", "S3 refuses * (recorded by LocalStack: test_put_object_if_match_validation)",
	},
	"MinIO overwrites on the condition that an ETag is another": {
		`^PUT .* If-None-Match: [^*]`, "^501 . NotImplemented$", "^(200|412)", "S3 takes * only (API reference, PutObject)",
	},
	"MinIO puts two conditions together": {
		"^PUT .* If-Match: .* If-None-Match: ", "^501 . NotImplemented$", "^(404|412)",
		"S3 refuses them (recorded by LocalStack: test_copy_object_precondition_write_validation)",
	},
	"MinIO repeats a limit above its own": {
		"max-keys=2000", "of at most 1000,", "of at most 2000,", "S3 lists 1,000 at most (API reference, ListObjectsV2), and says so",
	},
	"MinIO has a page without objects after the last": {
		"^PAGES ", "more: false false . [^|]*$", "more: true true . [^|]* 200 . [^|]*: 0 of at most ., more: false false$",
		"a list is truncated if there are more objects (API reference, ListObjectsV2, IsTruncated)",
	},
	"MinIO does not list what is below another object": {
		`^GET .*list-type=2$`, `b/2/3`, `1 of at most 1000.* b/2 [^/]*$`, "S3 has no folders: b/2/3 is a key as any other, and is listed (API reference, ListObjectsV2)",
	},
	"MinIO lists an object where none is asked for": {
		"max-keys=0&start-after=", ": 0 of at most 0, more: false false$", ": 1 of at most 0, more: ", "MaxKeys is the most there is in an answer (API reference, ListObjectsV2)",
	},
	"two conditions of a read": {
		"^(GET|HEAD) .* If-Match: .* If-None-Match: ", "^501 . NotImplemented$", "^(304|404|412|200)", "the simulated S3 has none: no lock asks so",
	},
	"a part of an object":        {" Range: ", "^501 . NotImplemented$", "^(206|404)", "the simulated S3 has none: lock files are small"},
	"folders":                    {"delimiter=", "^501 . NotImplemented$", "^(200|400 . InvalidArgument)", "the simulated S3 has none: no lock asks for them"},
	"lists of the first version": {"^GET /locks$", "^501 . NotImplemented$", "^200", "the simulated S3 has those of the second"},
}

// s3Contents are what objects hold. A line has @ and one of these in the place of its ETag.
var s3Contents = []string{"one", "two", "three"}

// s3Tags puts ETags in the place of their names, s3Names the other way round.
var s3Tags, s3Names = func() (*strings.Replacer, *strings.Replacer) {
	var tags, names []string
	for _, content := range s3Contents {
		tags = append(tags, "@"+content, object.ETag(content))
		names = append(names, object.ETag(content), "@"+content)
	}
	return strings.NewReplacer(tags...), strings.NewReplacer(names...)
}()

// s3Listed is a list of objects, or an error.
type s3Listed struct {
	XMLName               xml.Name
	Code, Name, Prefix    string
	KeyCount, MaxKeys     int
	IsTruncated           bool
	NextContinuationToken string
	Contents              []struct {
		Key, ETag string
		Size      int
	}
}

// s3Side is a server of S3.
type s3Side struct{ *httpSide }

// ask returns the answer to a request, as a line. A request by the method PAGES is for all pages of a list, one after another.
func (s s3Side) ask(t require.TestingT, line string) string {
	if pages, is := strings.CutPrefix(line, "PAGES "); is {
		return s.pages(t, pages)
	}
	a, body := s.do(t, s3Tags.Replace(line))
	return s3Answer(t, line, a, body)
}

// s3Answer is an answer as a line: its status, and the code of an error, or what it tells of the objects.
func s3Answer(t require.TestingT, line string, a *http.Response, body string) string {
	told := []string{fmt.Sprint(a.StatusCode)}
	if tag := a.Header.Get("ETag"); tag != "" && a.StatusCode < http.StatusBadRequest {
		told = append(told, s3Names.Replace(tag))
	}
	if kind := a.Header.Get("Content-Type"); a.StatusCode == http.StatusOK && kind != "" && kind != "application/xml" {
		told = append(told, kind)
	}
	if date := a.Header.Get("Last-Modified"); date != "" && a.StatusCode < http.StatusBadRequest {
		at, err := http.ParseTime(date)
		require.NoError(t, err, line)
		require.WithinDuration(t, time.Now(), at, time.Hour, line)
		told = append(told, "dated")
	}
	if a.Request.Method == http.MethodHead && a.StatusCode == http.StatusOK {
		told = append(told, a.Header.Get("Content-Length")+" bytes")
	}
	if body == "" {
		return strings.Join(told, " | ")
	}
	if !strings.HasPrefix(body, "<?xml") {
		return strings.Join(append(told, body), " | ")
	}
	var listed s3Listed
	require.NoError(t, xml.Unmarshal([]byte(body), &listed), "%s: %s", line, body)
	if listed.Code != "" {
		return strings.Join(append(told, listed.Code), " | ")
	}
	told = append(told, fmt.Sprintf("%s %q: %d of at most %d, more: %v %v", listed.Name, listed.Prefix, listed.KeyCount, listed.MaxKeys,
		listed.IsTruncated, listed.NextContinuationToken != ""))
	for _, o := range listed.Contents {
		told = append(told, fmt.Sprintf("%s %d %s", o.Key, o.Size, s3Names.Replace(o.ETag)))
	}
	return strings.Join(told, " | ")
}

// pagesS3 follows the tokens of a list.
func (s s3Side) pages(t require.TestingT, path string) (told string) {
	for token := ""; ; {
		line := "GET " + path
		if token != "" {
			line += "&continuation-token=" + url.QueryEscape(token)
		}
		a, body := s.do(t, line)
		told += s3Answer(t, line, a, body) + " "
		var listed s3Listed
		if xml.Unmarshal([]byte(body), &listed) != nil || !listed.IsTruncated {
			return strings.TrimSpace(told)
		}
		token = listed.NextContinuationToken
	}
}

// signS3 signs requests without their bodies (AWS Signature Version 4).
func signS3(key, secret string) func(*http.Request) {
	sum := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		_, _ = h.Write([]byte(text))
		return h.Sum(nil)
	}
	escape := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	return func(r *http.Request) {
		const payload, signed = "UNSIGNED-PAYLOAD", "host;x-amz-content-sha256;x-amz-date"
		now := time.Now().UTC().Format("20060102T150405Z")
		scope := now[:8] + "/us-east-1/s3/aws4_request"
		r.Header.Set("X-Amz-Date", now)
		r.Header.Set("X-Amz-Content-Sha256", payload)
		canonical := sha256.Sum256([]byte(strings.Join([]string{
			r.Method, strings.ReplaceAll(escape(r.URL.Path), "%2F", "/"), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"),
			"host:" + r.URL.Host, "x-amz-content-sha256:" + payload, "x-amz-date:" + now, "", signed, payload,
		}, "\n")))
		by := []byte("AWS4" + secret)
		for part := range strings.SplitSeq(scope, "/") {
			by = sum(by, part)
		}
		r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%x", key, scope, signed,
			sum(by, strings.Join([]string{"AWS4-HMAC-SHA256", now, scope, hex.EncodeToString(canonical[:])}, "\n"))))
	}
}

var s3Keys = []string{"a", "b/1", "b/2", "c%20d"}

// drawS3 draws a request.
func drawS3(t *rapid.T) string {
	one := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "one") }
	path := "/locks/" + one(s3Keys...)
	tag := one(`"@one"`, `"@two"`, "@one", `"@three"`, `"0"`, "none", "*")
	match, none := " | If-Match: "+tag, " | If-None-Match: "+tag
	body := " < " + one(s3Contents...)
	return rapid.SampledFrom([]func() string{
		func() string { return "PUT " + path + body },
		func() string { return "PUT " + path + body },
		func() string { return "PUT " + path + " | If-None-Match: *" + body },
		func() string { return "PUT " + path + " | If-None-Match: *" + body },
		func() string { return "PUT " + path + match + body },
		func() string { return "PUT " + path + match + body },
		func() string { return "PUT " + path + match + body },
		func() string { return "PUT " + path + none + body },
		func() string { return "PUT " + path + match + " | If-None-Match: *" + body },
		func() string { return "DELETE " + path },
		func() string { return "DELETE " + path },
		func() string { return "DELETE " + path + match },
		func() string { return "DELETE " + path + match },
		func() string { return one("GET ", "HEAD ") + path },
		func() string { return one("GET ", "HEAD ") + path },
		func() string { return one("GET ", "HEAD ") + path + match },
		func() string { return one("GET ", "HEAD ") + path + none },
		func() string { return drawS3List(t) },
		func() string { return drawS3List(t) },
		func() string {
			return one("GET /locks", "HEAD /locks", "GET /locks?location", "GET "+path+" | Range: bytes=0-1", "GET "+path+match+none,
				"DELETE "+path+none)
		},
	}).Draw(t, "request")()
}

func drawS3List(t *rapid.T) string {
	one := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "one") }
	list := "/locks?list-type=2" + one("", "&prefix=a", "&prefix=b/", "&prefix=c%20", "&prefix=x")
	if one("pages", "list", "list") == "pages" {
		return "PAGES " + list + one("&max-keys=1", "&max-keys=2", "&max-keys=2&start-after=a")
	}
	return "GET " + list + one("", "", "&max-keys=1", "&max-keys=2", "&max-keys=3", "&max-keys=0", "&max-keys=2000", "&max-keys=x", "&max-keys=-1") +
		one("", "", "", "&start-after=a", "&start-after=b/1", "&delimiter=/")
}

// s3Talk is a conversation's requests.
var s3Talk = rapid.SliceOfN(rapid.Custom(drawS3), 10, 40)

// s3Written is what is seldom drawn.
var s3Written = []string{
	"PUT /locks/b/2 < one", "PUT /locks/b/2/3 < two", "GET /locks?list-type=2", "GET /locks/b/2/3",
	"GET /locks?list-type=2&max-keys=0&start-after=a", "DELETE /locks/b/2/3",
	"PUT /locks/a < one", "PUT /locks/b/1 < one", "PUT /locks/c%20d < three", "GET /locks?list-type=2&max-keys=2000",
	"PAGES /locks?list-type=2&max-keys=1", "PAGES /locks?list-type=2&max-keys=1&prefix=b/", "GET /locks?list-type=2&max-keys=1",
	"GET /locks?list-type=2&start-after=b/1", "GET /locks/b/1 | If-None-Match: \"@one\"", "HEAD /locks/b/1 | If-None-Match: *",
	"GET /locks/b/1 | If-Match: \"@two\"",
}

// simulatedS3 is our server.
func simulatedS3(t *testing.T) s3Side {
	w, err := serve.Objects(1, "127.0.0.1:0")
	return s3Side{&httpSide{endpoint: "http://" + served(t, w, err)[0]}}
}

// startMinIO starts a real one.
func startMinIO(t *testing.T) (s3Side, *real.MinIO) {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	server, err := h.MinIO("minio")
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	side := s3Side{&httpSide{endpoint: server.Endpoint, sign: signS3(server.Key, server.Secret)}}
	require.Equal(t, "200", side.ask(t, "PUT /locks")[:3])
	return side, server
}

// begin deletes all objects.
func (s s3Side) begin(t require.TestingT) {
	for _, key := range s3Keys {
		require.Equal(t, "204", s.ask(t, "DELETE /locks/"+key)[:3])
	}
}

// s3 is compared with MinIO.
var s3 = comparison{
	ours: func(t *testing.T) side { return simulatedS3(t) }, unlike: unlikeMinIO, align: alignS3,
	talk: func(round int) []string {
		if round == 0 {
			return s3Written
		}
		return s3Talk.Example(round)
	},
	record: "testdata/objects/minio.txt", recorded: 25,
	comment: "Drawn requests, and what MinIO has answered (UPDATE=1 go test ./internal/serve -run TestS3AnswersAsMinIODoes).",
}

// alignS3 has a real server hold what ours does, after a difference in an object.
func alignS3(t require.TestingT, theirs, ours side, line string) {
	path := strings.Fields(line)[1]
	if theirs == nil || strings.Contains(path, "?") || path == "/locks" {
		return
	}
	a, body := ours.do(t, "GET "+path)
	if a.StatusCode == http.StatusOK {
		theirs.do(t, "PUT "+path+" < "+body)
		return
	}
	theirs.do(t, "DELETE "+path)
}

func TestS3AnswersAsMinIODoes(t *testing.T) {
	theirs, _ := startMinIO(t)
	s3.hold(t, theirs, long.Pick(300, 1_000, 10_000))
}

func TestS3AnswersAsMinIODid(t *testing.T) { s3.replay(t) }

func TestTheComparisonWithMinIOSeesWhatIsPlanted(t *testing.T) {
	swapped := func(from, to string) func(string) string {
		return func(line string) string { return strings.ReplaceAll(line, from, to) }
	}
	s3.sees(t, map[string]func(string) string{
		"a write has no condition":          swapped(" | If-None-Match: *", ""),
		"a write is of no version":          swapped(" | If-Match:", " | X-If-Match:"),
		"another's version is taken":        swapped(object.ETag("two"), object.ETag("one")),
		"a deletion deletes nothing":        swapped("DELETE /locks/b/", "GET /locks/b/"),
		"a content is another":              swapped(" < three", " < four"),
		"a list is longer":                  swapped("max-keys=1", "max-keys=2"),
		"a list begins at its beginning":    swapped("start-after=", "x-id="),
		"a list is of all":                  swapped("prefix=", "x-id="),
		"a read does not look at a version": swapped(" | If-None-Match: \"", " | X-If-None-Match: \""),
	})
}

// TestS3LetsOneWriterWinAsMinIODoes has writers write at once, on the condition that nobody has, and again on that of the first one's ETag.
func TestS3LetsOneWriterWinAsMinIODoes(t *testing.T) {
	theirs, _ := startMinIO(t)
	for name, s := range map[string]s3Side{"MinIO": theirs, "ours": simulatedS3(t)} {
		for round := range long.Pick(5, 20, 100) {
			path := fmt.Sprintf("/locks/race-%d", round)
			first := s.race(t, path, "If-None-Match: *", "first")
			second := s.race(t, path, fmt.Sprintf("If-Match: %q", object.ETag(first)), "second")
			_, body := s.do(t, "GET "+path)
			require.Equal(t, second, body, "%s, round %d", name, round)
		}
	}
}

// race has writers write at once, and returns what the one has written that is told of success. All others are told of another's.
func (s s3Side) race(t *testing.T, path, condition, by string) (written string) {
	const writers = 5
	type told struct {
		content, body string
		answer        *http.Response
		err           error
	}
	answers := make(chan told)
	for i := range writers {
		go func() {
			content := fmt.Sprint(by, i)
			a, body, err := s.try("PUT " + path + " | " + condition + " < " + content)
			answers <- told{content, body, a, err}
		}()
	}
	for range writers {
		a := <-answers
		require.NoError(t, a.err)
		if a.answer.StatusCode == http.StatusOK {
			require.Empty(t, written, "two are told that they have written: the other is %s", a.content)
			written = a.content
			continue
		}
		require.Regexp(t, "^(412 . PreconditionFailed|409 . ConditionalRequestConflict)$", s3Answer(t, path, a.answer, a.body))
	}
	require.NotEmpty(t, written, "nobody has written")
	return written
}

// TestS3KeepsWhatItHasAcknowledgedAsMinIODoes kills both and starts them again. A client that is gone before its object is whole leaves none.
func TestS3KeepsWhatItHasAcknowledgedAsMinIODoes(t *testing.T) {
	theirs, server := startMinIO(t)
	w, err := serve.Objects(1, "127.0.0.1:0")
	ours := s3Side{&httpSide{endpoint: "http://" + served(t, w, err)[0]}}
	var told []string
	for _, s := range []s3Side{theirs, ours} {
		var heard []string
		say := func(line string) { heard = append(heard, s.ask(t, line)) }
		say("PUT /locks/a < one")
		say("PUT /locks/b/1 < two")
		say("DELETE /locks/b/1")
		s.breakOff(t, "/locks/b/2")
		if s == theirs {
			require.NoError(t, server.Kill())
			require.NoError(t, server.Restart())
		} else {
			restart(t, w)
		}
		exchangeClient.CloseIdleConnections()
		say("GET /locks?list-type=2")
		say("GET /locks/a")
		say("PUT /locks/a | If-None-Match: * < two")
		say(`PUT /locks/a | If-Match: "@one" < two`)
		told = append(told, strings.Join(heard, "\n"))
	}
	require.Equal(t, told[0], told[1])
	require.Contains(t, told[1], ": 1 of at most 1000, more: false")
}

// restart kills our server, and starts it again.
func restart(t *testing.T, w *serve.World) {
	t.Helper()
	for _, line := range []string{"crash object-1", "restart object-1"} {
		var answer strings.Builder
		require.NoError(t, w.Control(t.Context(), strings.NewReader(line), &answer))
		require.Equal(t, line+"\n", answer.String())
	}
}

// breakOff sends half of an object, and is gone.
func (s *httpSide) breakOff(t *testing.T, path string) {
	body, rest := io.Pipe()
	r, err := http.NewRequest(http.MethodPut, s.endpoint+path, body)
	require.NoError(t, err)
	r.ContentLength = 1000
	if s.sign != nil {
		s.sign(r)
	}
	go func() {
		_, _ = rest.Write(make([]byte, 500))
		_ = rest.CloseWithError(errors.New("broken off"))
	}()
	_, err = exchangeClient.Do(r)
	require.ErrorContains(t, err, "broken off")
}
