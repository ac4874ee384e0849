package commandline

import (
	"slices"
	"strings"
	"testing"
)

// Every row is sound: one name each, options that there are, defaults among the columns, and a title in which nothing
// is left to be filled in.
func TestRows(t *testing.T) {
	known := newOptions(func(string) string { return "" })
	for i := range verbs {
		v := &verbs[i]
		if verbNamed(v.name) != v {
			t.Errorf("%s is not the only one of that name", v.name)
		}
		for _, option := range strings.Fields(v.options) {
			if known.Lookup(option) == nil {
				t.Errorf("%s has the option %s, which is not defined", v.name, option)
			}
		}
		if v.about == "" || strings.HasSuffix(v.about, ".") || v.about[0] < 'A' || v.about[0] > 'Z' {
			t.Errorf("%s: %q is no line about it", v.name, v.about)
		}
		columns := strings.Fields(v.columns)
		if unknown := unknownColumns(columns, strings.Fields(v.defaults)); unknown != "" || (v.columns == "") != (v.defaults == "") {
			t.Errorf("%s: %s", v.name, unknown)
		}
		names, least, more := v.parameters()
		for n := least; n <= len(names); n++ {
			arguments := slices.Repeat([]string{"x"}, n)
			c := newCall(v, newOptions(func(string) string { return "" }), "here", arguments)
			if title := v.title(c); strings.ContainsAny(title, "{}") || title == "" {
				t.Errorf("%s: %s", v.name, title)
			}
			if text := v.objection(arguments); text != "" {
				t.Errorf("%s with %d arguments: %s", v.name, n, text)
			}
		}
		if text := v.objection(slices.Repeat([]string{"x"}, len(names)+1)); (text == "") != more {
			t.Errorf("%s with one more: %q", v.name, text)
		}
	}
	if verbNamed("set_polic") != nil || verbNamed("") != nil {
		t.Error("a verb without a row")
	}
}

// What was given is put in place of names once: what it holds in braces stays.
func TestExpand(t *testing.T) {
	o := newOptions(func(string) string { return "" })
	c := newCall(verbNamed("set_permissions"), o, "here", []string{"{vhost}", "{read}", "w", "r"})
	if got := c.expand("{username} {conf} {write} {read} {vhost} {broker} {other}"); got != "{vhost} {read} w r / here {other}" {
		t.Error(got)
	}
	c = newCall(verbNamed("delete_vhost"), o, "here", []string{"v"})
	if got := c.expand("{vhost}"); got != "v" || c.vhost != "v" {
		t.Error(got, c.vhost)
	}
	c = newCall(verbNamed("set_user_tags"), o, "here", []string{"u", "a", "b"})
	if got := c.expand("{username} {tag}"); got != "u a, b" {
		t.Error(got)
	}
}
