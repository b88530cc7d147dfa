// Package kubernetes holds what locksim cluster kubernetes prints against the API of Kubernetes, and its own validation. It is a module of
// its own, since it needs all of Kubernetes, and compiles for minutes.
package kubernetes

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batch "k8s.io/api/batch/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	internal "k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // decoding, defaults
	"k8s.io/kubernetes/pkg/apis/batch/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
)

// manifest is what locksim prints.
func manifest(t *testing.T, command string) string {
	t.Helper()
	args := append([]string{"run", "./cmd/locksim", "cluster", "kubernetes", "--shards", "64"}, strings.Fields(command)...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = "../.."
	text, err := cmd.Output()
	require.NoError(t, err)
	return string(text)
}

// refused is what an API server would refuse of a manifest; nil if nothing.
func refused(text string) []string {
	scheme := legacyscheme.Scheme
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	object, _, err := decoder.Decode([]byte(text), nil, &batch.Job{})
	if err != nil && !runtime.IsStrictDecodingError(err) || object == nil {
		return []string{err.Error()}
	}
	var list []string
	if err != nil {
		list = append(list, err.Error())
	}
	scheme.Default(object)
	var job internal.Job
	if err := scheme.Convert(object, &job, nil); err != nil {
		return append(list, err.Error())
	}
	job.Namespace, job.UID = "default", "1"
	for name, value := range map[string]string{"controller-uid": "1", "job-name": job.Name} { // as the server generates them
		job.Spec.Template.Labels[name], job.Spec.Template.Labels["batch.kubernetes.io/"+name] = value, value
	}
	job.Spec.Selector = &meta.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": "1"}}
	for _, problem := range validation.ValidateJob(&job, validation.JobValidationOptions{RequirePrefixedLabels: true}) {
		list = append(list, problem.Error())
	}
	return list
}

func TestKubernetesAcceptsTheManifests(t *testing.T) {
	for _, command := range []string{"fuzz redlock --runs 1000000000", "measure redlock --claim parts --cpus 4 --memory 2Gi", "fuzz redlock --image registry:5000/locksim@sha256:" + strings.Repeat("0", 64)} {
		require.Empty(t, refused(manifest(t, command)), command)
	}
}

// TestKubernetesRefusesBrokenManifests breaks a manifest in one place at a time.
func TestKubernetesRefusesBrokenManifests(t *testing.T) {
	text := manifest(t, "fuzz redlock --claim parts")
	for _, c := range []struct{ from, to, want string }{
		{"name: locksim-fuzz", "name: Locksim_Fuzz", "DNS label"},
		{"completionMode: Indexed", "completionMode: Indxed", "completionMode"},
		{"completions: 65", "completion: 65", "unknown field"},
		{"completions: 65", "completions: -1", "completions"},
		{"backoffLimitPerIndex: 5", "backoffLimitPerIndex: -5", "backoffLimitPerIndex"},
		{"podReplacementPolicy: Failed", "podReplacementPolicy: Filed", "podReplacementPolicy"},
		{"action: FailJob", "action: FailJobs", "action"},
		{"type: DisruptionTarget", "type: 'Disruption Target'", "onPodConditions"},
		{"operator: In,", "operator: Inn,", "operator"},
		{"containerName: locksim", "containerName: other", "containerName"},
		{"restartPolicy: Never", "restartPolicy: Always", "restartPolicy"},
		{"memory: 1Gi", "memory: 1Gb", "quantities must match"},
		{"mountPath: /parts", "mountPath: ''", "mountPath"},
		{"{name: parts, mountPath", "{name: part, mountPath", "volumeMounts"},
		{"fieldPath: metadata.name", "fieldPath: metadata.nme", "fieldPath"},
	} {
		broken := strings.Replace(text, c.from, c.to, 1)
		require.NotEqual(t, text, broken, c.from)
		require.Contains(t, strings.Join(refused(broken), "\n"), c.want, c.to)
	}
}
