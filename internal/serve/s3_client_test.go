package serve_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// lockFiles prints what boto3 sees of lock files. Versions before 1.36 have no parameters for conditional writes.
const lockFiles = `
import sys, boto3
from botocore.exceptions import ClientError
s3 = boto3.client("s3", endpoint_url="http://" + sys.argv[1], region_name="us-east-1", aws_access_key_id="any", aws_secret_access_key="any")
condition = {}
s3.meta.events.register("before-sign.s3", lambda request, **_: [request.headers.add_header(*c) for c in condition.items()])

def tell(call, show, unless={}, **parameters):
    condition.update(unless)
    try:
        print(show(call(Bucket="locks", **parameters)))
    except ClientError as why:
        print(why.response["ResponseMetadata"]["HTTPStatusCode"], why.response["Error"]["Code"])
    condition.clear()

tag = lambda answer: answer["ETag"]
status = lambda answer: answer["ResponseMetadata"]["HTTPStatusCode"]
tell(s3.head_bucket, status)
tell(s3.head_object, status, Key="lock")
tell(s3.put_object, tag, {"If-None-Match": "*"}, Key="lock", Body=b"a")
tell(s3.put_object, tag, {"If-None-Match": "*"}, Key="lock", Body=b"b")
tell(s3.get_object, lambda answer: answer["Body"].read().decode(), Key="lock")
tell(s3.head_object, lambda answer: (answer["ContentLength"], str(answer["LastModified"].tzinfo)), Key="lock")
tell(s3.put_object, tag, {"If-Match": "0"}, Key="lock", Body=b"b")
tell(s3.put_object, tag, {"If-Match": '"0cc175b9c0f1b6a831c399e269772661"'}, Key="lock", Body=b"b")
tell(s3.list_objects_v2, lambda answer: [o["Key"] for o in answer["Contents"]], Prefix="l")
tell(s3.delete_object, status, {"If-Match": "0"}, Key="lock")
tell(s3.delete_object, status, Key="lock")
tell(s3.delete_object, status, Key="lock")
tell(s3.delete_object, status, {"If-Match": "*"}, Key="lock")
tell(s3.get_object, tag, Key="lock")
`

// TestBoto3UsesServedObjectsAsLockFiles of S3.
func TestBoto3UsesServedObjectsAsLockFiles(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "boto3")
	w, err := serve.Objects(1, "127.0.0.1:0")
	out, err := exec.CommandContext(t.Context(), python, "-c", lockFiles, served(t, w, err)[0]).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, `200
404 404
"0cc175b9c0f1b6a831c399e269772661"
412 PreconditionFailed
a
(1, 'tzutc()')
412 PreconditionFailed
"92eb5ffee6ae2fec3ad71c777531578f"
['lock']
412 PreconditionFailed
204
204
404 NoSuchKey
404 NoSuchKey`, strings.TrimSpace(string(out)))
}
