package commandline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"

	"candlemark/internal/commandline/format"
	"candlemark/internal/httpapi/client"
)

var definitionVerbs = []verb{
	{
		name: "export_definitions", about: "Writes all definitions, or those of a virtual host that is named, to a file, or - for the output", arguments: "[<file>]",
		bare: func(c *call) bool { return file(c) == standard },
		title: func(c *call) string {
			return fmt.Sprintf("Exporting definitions in JSON to %s ...", place(c, "output"))
		},
		run: exportDefinitions,
	},
	{
		name: "import_definitions", about: "Imports definitions from a file, or - for the input, and tells what became of them", arguments: "[<file>]", options: "dry-run strict",
		title: func(c *call) string {
			return fmt.Sprintf("Importing definitions in JSON from %s ...", place(c, "input"))
		},
		run: importDefinitions,
	},
}

// standard means standard input or output in the place of a file.
const standard = "-"

// file is the one that was named, - for none.
func file(c *call) string {
	if len(c.arguments) == 0 {
		return standard
	}
	return c.arguments[0]
}

// place says where definitions come from or go to.
func place(c *call, direction string) string {
	if file(c) == standard {
		return "standard " + direction
	}
	return fmt.Sprintf("a file at %q", file(c))
}

// scope is the path of all definitions, or of those of the virtual host that was named.
func scope(c *call) []string {
	if c.given("p") || c.given("vhost") {
		return []string{"definitions", c.vhost}
	}
	return []string{"definitions"}
}

func exportDefinitions(ctx context.Context, broker *client.Client, c *call) error {
	text, err := broker.Export(ctx, scope(c)...)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if file(c) == standard {
		_, err = c.out.Write(text)
		return err
	}
	if err := os.WriteFile(file(c), text, 0o600); err != nil { // there are hashes of passwords in it
		return &exit{ExitSoftware, err.Error()}
	}
	return nil
}

func importDefinitions(ctx context.Context, broker *client.Client, c *call) error {
	text, err := readDefinitions(c)
	if err != nil {
		return &exit{ExitData, err.Error()}
	}
	query := url.Values{"report": {"true"}}
	for name, wanted := range map[string]bool{"dry_run": c.dryRun, "strict": c.strict} {
		if wanted {
			query.Set(name, "true")
		}
	}
	answer, err := broker.Import(ctx, text, query, scope(c)...)
	if err != nil {
		return err
	}
	var r format.ImportReport
	if err := json.Unmarshal(answer, &r); err != nil {
		return fmt.Errorf("the answer is not understood: %w", err)
	}
	if c.json {
		c.say("%s", answer)
	} else {
		r.Write(c.out)
	}
	switch refused := r.Counts["refused"]; {
	case refused > 0 && !r.Imported && !c.dryRun:
		return &exit{ExitData, fmt.Sprintf("nothing was imported: %d items are refused", refused)}
	case refused > 0:
		return &exit{ExitData, fmt.Sprintf("%d items are refused", refused)}
	}
	return nil
}

func readDefinitions(c *call) (text []byte, err error) {
	if file(c) == standard {
		text, err = io.ReadAll(c.in)
	} else {
		text, err = os.ReadFile(file(c))
	}
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("%s is not JSON", place(c, "input"))
	}
	return text, err
}
