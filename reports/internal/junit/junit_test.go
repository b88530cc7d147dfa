package junit_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/reports/internal/junit"
)

func TestADocumentCountsItsCases(t *testing.T) {
	d := junit.Document{Name: "all", Suites: []junit.Suite{
		{Name: "one", File: "one.yaml", Cases: []junit.Case{
			{Name: "passes", Class: "c", Properties: junit.Properties{{Name: "runs", Value: "3"}}},
			{Name: "fails", Class: "c", Line: 7, Failure: &junit.Problem{
				Message: "<", Type: "t", Drawing: "a │\n\x1b\xff]]>b",
			}},
		}},
		{Name: "two", Cases: []junit.Case{
			{Name: "errs", Class: "c", Error: &junit.Problem{Message: "m", Text: "a & b"}},
			{Name: "skips", Class: "c", Skipped: &junit.Problem{Message: "m"}},
		}},
	}}
	for range 2 { // counts begin again
		var b bytes.Buffer
		require.NoError(t, d.Write(&b))
		require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="4" failures="1" errors="1" skipped="1" time="0">
  <testsuite name="one" tests="2" failures="1" errors="0" skipped="0" time="0" file="one.yaml">
    <testcase name="passes" classname="c" time="0">
      <properties>
        <property name="runs" value="3"></property>
      </properties>
    </testcase>
    <testcase name="fails" classname="c" time="0" line="7">
      <failure message="&lt;" type="t"><![CDATA[a │
?]]]]><![CDATA[>b]]></failure>
    </testcase>
  </testsuite>
  <testsuite name="two" tests="2" failures="0" errors="1" skipped="1" time="0">
    <testcase name="errs" classname="c" time="0">
      <error message="m">a &amp; b</error>
    </testcase>
    <testcase name="skips" classname="c" time="0">
      <skipped message="m"></skipped>
    </testcase>
  </testsuite>
</testsuites>
`, b.String())
	}
}
