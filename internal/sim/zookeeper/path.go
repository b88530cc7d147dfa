package zookeeper

import "strings"

// validPath is PathUtils.validatePath: what a node may be called. Java's characters are UTF-16, and it has none for what
// is not UTF-8.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
		return false
	}
	start := 1 // of the name
	for i, c := range path[1:] {
		i++
		switch {
		case c == '/' && !validName(path[start:i]), !validCharacter(c):
			return false
		case c == '/':
			start = i + 1
		}
	}
	return validName(path[start:])
}

func validName(name string) bool { return name != "" && name != "." && name != ".." }

func validCharacter(c rune) bool {
	return c > 0x1f && c < 0x7f || c > 0x9f && c < 0xd800 || c > 0xf8ff && c < 0xfff0
}

// nameable reports whether a path is one that a node could be made or deleted at, as far as that is looked at before
// anything else (PrepRequestProcessor.validatePathForCreate, getParentPathAndValidate).
func nameable(path string) bool {
	return strings.Contains(path, "/") && !strings.Contains(path, "\x00")
}

func parentOf(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/"
	}
	return path[:i]
}

func nameOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
