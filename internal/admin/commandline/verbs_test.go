package commandline

import (
	"slices"
	"strings"
	"testing"

	"candlemark/internal/admin/commandline/verb"
)

// Every row is valid: its name is unique, its options exist, its default columns are among its columns, and its title
// has no placeholder left.
func TestRows(t *testing.T) {
	known := verb.NewOptions(func(string) string { return "" })
	for i := range verbs {
		v := &verbs[i]
		if _, known := instead[v.Name]; known || named(verbs, v.Name) != v {
			t.Errorf("%s is not the only one of that name", v.Name)
		}
		for _, option := range strings.Fields(v.Options) {
			if known.Lookup(option) == nil {
				t.Errorf("%s has the option %s, which is not defined", v.Name, option)
			}
		}
		if v.About == "" || strings.HasSuffix(v.About, ".") || v.About[0] < 'A' || v.About[0] > 'Z' {
			t.Errorf("%s: %q is no line about it", v.Name, v.About)
		}
		columns := strings.Fields(v.Columns)
		if unknown := verb.UnknownColumns(columns, strings.Fields(v.Defaults)); unknown != "" || (v.Columns == "") != (v.Defaults == "") {
			t.Errorf("%s: %s", v.Name, unknown)
		}
		names, least, more := v.Parameters()
		for n := least; n <= len(names); n++ {
			arguments := slices.Repeat([]string{"x"}, n)
			c := verb.NewCall(v, verb.NewOptions(func(string) string { return "" }), "here", arguments)
			if title := v.Title(c); strings.ContainsAny(title, "{}") || title == "" {
				t.Errorf("%s: %s", v.Name, title)
			}
			if text := v.Objection(arguments); text != "" {
				t.Errorf("%s with %d arguments: %s", v.Name, n, text)
			}
		}
		if text := v.Objection(slices.Repeat([]string{"x"}, len(names)+1)); (text == "") != more {
			t.Errorf("%s with one more: %q", v.Name, text)
		}
	}
	if named(verbs, "set_polic") != nil || named(verbs, "") != nil {
		t.Error("a verb without a row")
	}
}

// Placeholders are replaced once: braces within values stay.
func TestExpand(t *testing.T) {
	o := verb.NewOptions(func(string) string { return "" })
	c := verb.NewCall(named(verbs, "set_permissions"), o, "here", []string{"{vhost}", "{read}", "w", "r"})
	if got := c.Expand("{username} {conf} {write} {read} {vhost} {broker} {other}"); got != "{vhost} {read} w r / here {other}" {
		t.Error(got)
	}
	c = verb.NewCall(named(verbs, "delete_vhost"), o, "here", []string{"v"})
	if got := c.Expand("{vhost}"); got != "v" || c.VHost != "v" {
		t.Error(got, c.VHost)
	}
	c = verb.NewCall(named(verbs, "set_user_tags"), o, "here", []string{"u", "a", "b"})
	if got := c.Expand("{username} {tag}"); got != "u a, b" {
		t.Error(got)
	}
}
