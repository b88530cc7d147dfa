// Names prints a pattern for go test -run that matches the tests with a long form, those that come to the package long by functions
// and variables of their own package: LONG=1 go test -run "$(go run ./internal/long/names)" ./... plays these, and no test twice that has one form.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	uses := make(map[string]map[string]bool) // a package's folder and a function or variable of its tests, and what that names
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read(file, filepath.Dir(path), uses)
		return nil
	})
	tests := reached(uses)
	if err == nil && len(tests) == 0 {
		err = errors.New("no test below this folder has a long form")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "^("+strings.Join(tests, "|")+")$")
}

const (
	isLong = "long" // stands for the package long, by whatever name it is imported
	method = "()"   // after the name of one, which selects it
)

// read notes what the functions and variables of a file name.
func read(file *ast.File, folder string, uses map[string]map[string]bool) {
	alias := ""
	for _, i := range file.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); strings.HasSuffix(path, "/internal/long") {
			if alias = isLong; i.Name != nil {
				alias = i.Name.Name
			}
		}
	}
	note := func(name string, of ast.Node) {
		key := filepath.Join(folder, name)
		if uses[key] == nil { // methods may share a name
			uses[key] = make(map[string]bool)
		}
		var see func(ast.Node) bool
		see = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				uses[key][filepath.Join(folder, n.Sel.Name)+method] = true
				if x, ok := n.X.(*ast.Ident); ok && x.Name == alias && n.Sel.Name != "NotShort" {
					uses[key][isLong] = true
				}
				ast.Inspect(n.X, see)
				return false
			case *ast.Ident:
				uses[key][filepath.Join(folder, n.Name)] = true
			}
			return true
		}
		ast.Inspect(of, see)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				note(d.Name.Name+method, d.Body)
			} else {
				note(d.Name.Name, d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						note(name.Name, v)
					}
				}
			}
		}
	}
}

// reached are the tests that come to isLong.
func reached(uses map[string]map[string]bool) (tests []string) {
	reach := map[string]bool{isLong: true}
	for before := 0; before < len(reach); {
		before = len(reach)
		for key, named := range uses {
			for name := range named {
				if reach[name] {
					reach[key] = true
				}
			}
		}
	}
	for key := range reach {
		if name := filepath.Base(key); strings.HasPrefix(name, "Test") {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return slices.Compact(tests)
}
