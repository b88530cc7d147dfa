package redis

import "strings"

// matches reports whether a text matches a pattern of * ? [a-c] [^a] and \ (util.c, stringmatchlen).
func matches(pattern, text string) bool {
	for pattern != "" && text != "" {
		switch pattern[0] {
		case '*':
			rest := strings.TrimLeft(pattern, "*")
			for i := range len(text) + 1 {
				if matches(rest, text[i:]) {
					return true
				}
			}
			return false
		case '?':
			pattern = pattern[1:]
		case '[':
			in, rest := matchesClass(pattern[1:], text[0])
			if !in {
				return false
			}
			pattern = rest
		default:
			if pattern[0] == '\\' && len(pattern) > 1 {
				pattern = pattern[1:]
			}
			if pattern[0] != text[0] {
				return false
			}
			pattern = pattern[1:]
		}
		text = text[1:]
	}
	return text == "" && strings.Trim(pattern, "*") == ""
}

// matchesClass reports whether a byte is in a class, and returns what follows it. One that is not closed ends with the pattern.
func matchesClass(class string, c byte) (in bool, rest string) {
	not := strings.HasPrefix(class, "^")
	if not {
		class = class[1:]
	}
	for class != "" && class[0] != ']' {
		switch {
		case class[0] == '\\' && len(class) >= 2:
			in = in || class[1] == c
			class = class[2:]
		case len(class) >= 3 && class[1] == '-':
			low, high := min(class[0], class[2]), max(class[0], class[2])
			in = in || low <= c && c <= high
			class = class[3:]
		default:
			in = in || class[0] == c
			class = class[1:]
		}
	}
	return in != not, strings.TrimPrefix(class, "]")
}
