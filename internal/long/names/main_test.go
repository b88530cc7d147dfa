package main

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

const tests = `package x_test

import tests "example.com/internal/long"

func TestDirect(t *testing.T) { tests.Only(t) }
func TestByAFunction(t *testing.T) { for range count() {} }
func TestByAMethod(t *testing.T) { x.seeds() }
func TestInASubtest(t *testing.T) { t.Run("", func(t *testing.T) { check(t, count) }) }
func TestOfOneForm(t *testing.T) { tests.NotShort(t); x.count(); seeds := 1 }
func TestByAVariable(t *testing.T) { for range most {} }
var most = 2 * tests.Pick(1, 2, 3)
func count() int { return tests.Pick(1, 2, 3) }
func (kind) seeds() int { return count() }
`

func TestTestsWithALongFormAreNamed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", tests, parser.SkipObjectResolution)
	require.NoError(t, err)
	uses := make(map[string]map[string]bool)
	read(file, "x", uses)
	require.Equal(t, []string{"TestByAFunction", "TestByAMethod", "TestByAVariable", "TestDirect", "TestInASubtest"}, reached(uses))
}
