package claims_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/search"
	"github.com/locksim/locksim/internal/search/claims"
)

// untied lists what is wrong with the builds of a ledger's lines: each is to be a commit of which there is knowledge.
func untied(l *claims.Ledger, exists func(commit string) bool) (list []string) {
	for _, line := range l.Lines {
		commit, ok := search.Commit(line.Build)
		switch {
		case !ok:
			list = append(list, fmt.Sprintf("%s: the build %s is of no commit", line.Claim, line.Build))
		case !exists(commit):
			list = append(list, fmt.Sprintf("%s: the commit %s is not in the history", line.Claim, commit))
		}
	}
	return list
}

func TestUntiedLinesAreFound(t *testing.T) {
	l, err := claims.ReadLedger(strings.NewReader("a l p 1 0 0 0 0 0 0123456789ab-go1.26.8\nb l p 1 0 0 0 0 0 unrecorded\n" +
		"c l p 1 0 0 0 0 0 sha256-0123456789ab\nd l p 1 0 0 0 0 0 ffffffffffff-go1.26.8\n"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"b: the build unrecorded is of no commit", "c: the build sha256-0123456789ab is of no commit",
		"d: the commit ffffffffffff is not in the history",
	}, untied(l, func(commit string) bool { return commit == "0123456789ab" }))
}

// TestPublishedCampaignIsOfCommits ties the published ledger to the code that has played it. In a copy of the source
// without its history, or with a part of it, only the names can be looked at.
func TestPublishedCampaignIsOfCommits(t *testing.T) {
	f, err := os.Open("testdata/campaign.txt")
	require.NoError(t, err)
	ledger, err := claims.ReadLedger(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Empty(t, untied(ledger, func(string) bool { return true }))
	shallow, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--is-shallow-repository").Output()
	if err != nil || strings.TrimSpace(string(shallow)) != "false" {
		t.Skip("the history is not here")
	}
	known := map[string]bool{}
	require.Empty(t, untied(ledger, func(commit string) bool {
		if _, asked := known[commit]; !asked {
			known[commit] = exec.CommandContext(t.Context(), "git", "merge-base", "--is-ancestor", commit, "HEAD").Run() == nil
		}
		return known[commit]
	}))
}
