package scenarios

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// violations judges a value by a JSON Schema, as far as [Schema] uses the language (draft 7).
func violations(root, schema map[string]any, v any, path string, depth int) []string {
	if ref, ok := schema["$ref"].(string); ok {
		definition := root
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			definition, ok = definition[name].(map[string]any)
			if !ok {
				return []string{"no definition " + ref}
			}
		}
		return violations(root, definition, v, path, depth+1)
	}
	var found []string
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		found = append(found, violation(root, schema, keyword, v, path, depth)...)
	}
	return found
}

func violation(root, schema map[string]any, keyword string, v any, path string, depth int) []string {
	rule := schema[keyword]
	number, isNumber := asNumber(v)
	text, isText := v.(string)
	list, isList := v.([]any)
	mapping, isMapping := v.(map[string]any)
	bad := func(wrong bool) []string {
		if wrong {
			return []string{fmt.Sprintf("%s: %s %v: %v", path, keyword, rule, v)}
		}
		return nil
	}
	switch keyword {
	case "$schema", "$id", "title", "description", "default", "definitions":
		return nil
	case "type":
		types := map[string]bool{"object": isMapping, "array": isList, "string": isText, "integer": isNumber, "boolean": v == true || v == false, "null": v == nil}
		is, known := types[rule.(string)]
		return bad(!is || !known)
	case "enum":
		return bad(!slices.ContainsFunc(rule.([]any), func(want any) bool { return reflect.DeepEqual(want, v) }))
	case "pattern":
		return bad(isText && !regexp.MustCompile(rule.(string)).MatchString(text))
	case "minLength":
		return bad(isText && float64(utf8.RuneCountInString(text)) < rule.(float64))
	case "maxLength":
		return bad(isText && float64(utf8.RuneCountInString(text)) > rule.(float64))
	case "minimum":
		return bad(isNumber && number < rule.(float64))
	case "maximum":
		return bad(isNumber && number > rule.(float64))
	case "minItems":
		return bad(isList && float64(len(list)) < rule.(float64))
	case "maxItems":
		return bad(isList && float64(len(list)) > rule.(float64))
	case "minProperties":
		return bad(isMapping && float64(len(mapping)) < rule.(float64))
	}
	return structural(root, schema, keyword, v, path, depth)
}

func asNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case uint64:
		return float64(n), true
	}
	return 0, false
}

// structural judges by the keywords that hold schemas.
func structural(root, schema map[string]any, keyword string, v any, path string, depth int) []string {
	rule := schema[keyword]
	list, _ := v.([]any)
	mapping, isMapping := v.(map[string]any)
	names := slices.Sorted(maps.Keys(mapping))
	var found []string
	sub := func(s any, v any, key string) {
		found = append(found, violations(root, s.(map[string]any), v, path+"."+key, depth+1)...)
	}
	switch keyword {
	case "allOf":
		for _, s := range rule.([]any) {
			found = append(found, violations(root, s.(map[string]any), v, path, depth+1)...)
		}
	case "anyOf", "oneOf":
		matches := 0
		for _, s := range rule.([]any) {
			if inner := violations(root, s.(map[string]any), v, path, depth+1); len(inner) == 0 {
				matches++
			}
		}
		if matches == 0 || keyword == "oneOf" && matches > 1 {
			found = append(found, fmt.Sprintf("%s: %d of %s: %v", path, matches, keyword, v))
		}
	case "items":
		for i, item := range list {
			sub(rule, item, fmt.Sprint(i))
		}
	case "propertyNames":
		for _, name := range names {
			sub(rule, name, name)
		}
	case "required":
		for _, name := range rule.([]any) {
			if _, ok := mapping[name.(string)]; isMapping && !ok {
				found = append(found, fmt.Sprintf("%s: %s is missing", path, name))
			}
		}
	case "dependencies":
		for _, name := range names {
			switch s := rule.(map[string]any)[name].(type) {
			case map[string]any:
				sub(s, v, name)
			case []any:
				sub(map[string]any{"required": s}, v, name)
			}
		}
	case "properties":
		for _, name := range names {
			if s, ok := rule.(map[string]any)[name]; ok {
				sub(s, mapping[name], name)
			}
		}
	case "additionalProperties":
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range names {
			if _, ok := properties[name]; ok {
				continue
			}
			if rule == false {
				found = append(found, fmt.Sprintf("%s: unknown %s", path, name))
			} else {
				sub(rule, mapping[name], name)
			}
		}
	default:
		found = append(found, "the test does not know the keyword "+keyword)
	}
	return found
}
