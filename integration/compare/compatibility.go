package main

import (
	"fmt"
	"strings"
)

const preface = `# Compatibility with RabbitMQ and its clients

Candlemark follows RabbitMQ 4.x. ` + "`integration/compare`" + ` plays %d scripts, method sequences valid and invalid, against RabbitMQ 3.10.8 and
Candlemark and compares the answers frame by frame. All answers are equal but for the differences below, each with its reason.

This page is written by ` + "`go run ./integration/compare --doc docs/compatibility.md`" + ` from the table in ` + "`integration/compare/explained.go`" + `.
`

// compatibility is docs/compatibility.md.
func compatibility() string {
	var b strings.Builder
	fmt.Fprintf(&b, preface, len(scripts()))
	b.WriteString(beyond)
	b.WriteString("\n## Everywhere\n\n| RabbitMQ 3.10 | Candlemark | reason |\n| --- | --- | --- |\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.theirs), cell(r.ours), r.reason)
	}
	area := ""
	for _, e := range explanations {
		if name, _, _ := strings.Cut(e.id, "/"); name != area {
			area = name
			fmt.Fprintf(&b, "\n## %s\n\n| script | RabbitMQ 3.10 | Candlemark | reason |\n| --- | --- | --- | --- |\n", strings.ToUpper(area[:1])+area[1:])
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.id, cell(e.theirs...), cell(e.ours...), e.reason)
	}
	return b.String()
}

// cell is texts of the wire in a table.
func cell(list ...string) string {
	if len(list) == 0 || list[0] == "" {
		return "–"
	}
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
	}
	return strings.Join(quoted, "<br>")
}
