package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

const page = "../../../docs/configuration.md"

// TestPage keeps the tables of docs/configuration.md equal to the code's tables; CANDLEMARK_REWRITE=1 rewrites them.
func TestPage(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for marker, table := range map[string]string{"settings": settingsTable(), "foreign": foreignTable()} {
		begin, end := "<!-- "+marker+" -->\n", "<!-- end of "+marker+" -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("the page has no place for %s", marker)
		}
		text = before + begin + table + end + after
	}
	if text == string(content) {
		return
	}
	if os.Getenv("CANDLEMARK_REWRITE") == "" {
		t.Fatal("the page has other tables than the code; CANDLEMARK_REWRITE=1 writes them anew")
	}
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("\n| flag | in the file | variable | default | SIGHUP | |\n| --- | --- | --- | --- | --- | --- |\n")
	l := newLoader(flag.NewFlagSet("", flag.ContinueOnError), map[string]string{"HOME": "~"})
	for i := range settings {
		s := &settings[i]
		name, reload, initial := "", "", l.value(s).String()
		if !s.noFlag {
			name = "`--" + s.name + "`"
		}
		if s.reload {
			reload = "yes"
		}
		if initial != "" {
			initial = "`" + initial + "`"
		}
		var keys []string
		for _, k := range s.keys {
			keys = append(keys, "`"+k.name+"`")
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s | %s | %s |\n", name, strings.Join(keys, ", "), strings.Join(s.variables(), "`, `"), initial, reload,
			strings.ReplaceAll(s.help, "`", ""))
	}
	return b.String() + "\n"
}

func foreignTable() string {
	var b strings.Builder
	b.WriteString("\n| keys | accepted values | other values | reason |\n| --- | --- | --- | --- |\n")
	for _, f := range elsewhere {
		outcome := "warning"
		if f.refused {
			outcome = "refused"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.Join(f.keys, "`, `"), strings.Join(f.same, ", "), outcome, f.why)
	}
	return b.String() + "\n"
}
