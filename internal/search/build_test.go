package search

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABuildIsNamedByItsCommitOnlyIfItIsJustThat(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	info := func(path, revision, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{
			GoVersion: "go1.26.8 X:jsonv2", Main: debug.Module{Path: path},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}},
		}
	}
	require.Equal(t, "0123456789ab-go1.26.8", commit(info(modulePath, revision, "false")))
	require.Empty(t, commit(info(modulePath, revision, "true")), "what was changed is in no commit")
	require.Empty(t, commit(info(modulePath, "", "false")))
	require.Empty(t, commit(&debug.BuildInfo{Main: debug.Module{Path: modulePath}}), "built without version control")
	require.Empty(t, commit(info("example.com/other", revision, "false")), "the commit is of another module")
}

func TestABuildHasOneName(t *testing.T) {
	name, err := Build()
	require.NoError(t, err)
	require.Regexp(t, `^sha256-[0-9a-f]{12}$`, name, "a test's executable is no commit")
	again, err := Build()
	require.NoError(t, err)
	require.Equal(t, name, again)
}

func TestACommitIsReadOfABuildsName(t *testing.T) {
	hash, ok := Commit("0123456789ab-go1.26.8")
	require.True(t, ok)
	require.Equal(t, "0123456789ab", hash)
	for _, name := range []string{"unrecorded", "sha256-0123456789ab", "0123456789ab", "0123456789-go1.26", "x123456789ab-go1.26", ""} {
		_, ok := Commit(name)
		require.False(t, ok, name)
	}
}
