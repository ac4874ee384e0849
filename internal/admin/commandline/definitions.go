package commandline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var definitionVerbs = []verb.Row{
	{
		Name: "export_definitions", Options: "vhost", About: "Exports all definitions, or those of a virtual host, to a file, or - for standard output", Arguments: "[<file>]",
		Bare: func(c *verb.Call) bool { return file(c) == standard },
		Title: func(c *verb.Call) string {
			return fmt.Sprintf("Exporting definitions in JSON to %s ...", place(c, "output"))
		},
		Run: exportDefinitions,
	},
	{
		Name: "import_definitions", About: "Imports definitions from a file, or - for standard input, and reports the result", Arguments: "[<file>]", Options: "vhost dry-run strict pause-schedules",
		Title: func(c *verb.Call) string {
			return fmt.Sprintf("Importing definitions in JSON from %s ...", place(c, "input"))
		},
		Run: importDefinitions,
	},
}

// standard means standard input or output in the place of a file.
const standard = "-"

// file returns the named file, - for none.
func file(c *verb.Call) string {
	if len(c.Arguments) == 0 {
		return standard
	}
	return c.Arguments[0]
}

// place says where definitions come from or go to.
func place(c *verb.Call, direction string) string {
	if file(c) == standard {
		return "standard " + direction
	}
	return fmt.Sprintf("a file at %q", file(c))
}

// scope returns the path of all definitions, or of the definitions of the named virtual host.
func scope(c *verb.Call) []string {
	if c.Given("p") || c.Given("vhost") {
		return []string{"definitions", c.VHost}
	}
	return []string{"definitions"}
}

func exportDefinitions(ctx context.Context, broker *client.Client, c *verb.Call) error {
	text, err := broker.Export(ctx, scope(c)...)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if file(c) == standard {
		_, err = c.Out.Write(text)
		return err
	}
	if err := os.WriteFile(file(c), text, 0o600); err != nil { // there are hashes of passwords in it
		return verb.Fail(verb.ExitSoftware, err.Error())
	}
	return nil
}

func importDefinitions(ctx context.Context, broker *client.Client, c *verb.Call) error {
	text, err := readDefinitions(c)
	if err != nil {
		return verb.Fail(verb.ExitData, err.Error())
	}
	query := url.Values{"report": {"true"}}
	for name, wanted := range map[string]bool{"dry_run": c.DryRun, "strict": c.Strict, "pause_schedules": c.PauseSchedules} {
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
		return fmt.Errorf("unexpected answer: %w", err)
	}
	if c.JSON {
		c.Say("%s", answer)
	} else {
		r.Write(c.Out)
	}
	switch refused := r.Counts["refused"]; {
	case refused > 0 && !r.Imported && !c.DryRun:
		return verb.Fail(verb.ExitData, fmt.Sprintf("nothing was imported; refused items: %d", refused))
	case refused > 0:
		return verb.Fail(verb.ExitData, fmt.Sprintf("refused items: %d", refused))
	}
	return nil
}

func readDefinitions(c *verb.Call) (text []byte, err error) {
	if file(c) == standard {
		text, err = io.ReadAll(c.In)
	} else {
		text, err = os.ReadFile(file(c))
	}
	if err == nil && !json.Valid(text) {
		err = fmt.Errorf("%s is not JSON", place(c, "input"))
	}
	return text, err
}
