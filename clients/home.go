package clients

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// homeVariable names the folder of the ready-made clients, if it is in no place where one would look for it.
const homeVariable = "LOCKSIM_CLIENTS"

// modulePath is locksim's own.
const modulePath = "github.com/locksim/locksim"

// home returns the folder in which the ready-made clients are: in locksim's source around the working directory, else beside
// the source that this program was built from, else where the variable says.
func home() (string, error) {
	if root, ok := sourceWith(func(root string) bool { return hasClients(filepath.Join(root, "clients")) }); ok {
		return filepath.Join(root, "clients"), nil
	}
	if folder := os.Getenv(homeVariable); folder != "" {
		if !hasClients(folder) {
			return "", errors.New(homeVariable + " is " + folder + ", where locksim's ready-made clients are not")
		}
		return filepath.Abs(folder)
	}
	return "", errors.New("the ready-made clients are in the folder clients of locksim's source, which is not here: " +
		"run locksim in its source, or set " + homeVariable + " to that folder")
}

// Source returns the folder of locksim's source: around the working directory, or where this program was built from.
func Source() (folder string, ok bool) {
	return sourceWith(func(root string) bool { _, err := os.Stat(filepath.Join(root, engineMain)); return err == nil })
}

// sourceWith returns the root of locksim's source that has something: around the working directory, or where this program was
// built from.
func sourceWith(has func(root string) bool) (root string, ok bool) {
	if folder, err := os.Getwd(); err == nil {
		for parent := filepath.Dir(folder); ; folder, parent = parent, filepath.Dir(parent) {
			if has(folder) {
				return folder, true
			}
			if parent == folder {
				break
			}
		}
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) && has(filepath.Dir(filepath.Dir(file))) {
		return filepath.Dir(filepath.Dir(file)), true
	}
	return "", false
}

// hasClients reports whether a folder is that of the ready-made clients: each of them is a module there.
func hasClients(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, Catalogue()[0].Folder, "go.mod"))
	return err == nil && strings.HasPrefix(string(text), "module "+modulePath+"/clients/")
}
