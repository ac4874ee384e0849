package commandline

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var moveVerbs = []verb.Row{
	{
		Name: "move_messages", About: "Moves messages of a queue back to their origin, to a queue or to an exchange", Arguments: "<queue> <to> [<id> ...]",
		Options: "vhost rate dry-run", Check: checkTarget, Title: verb.Titled("Moving messages"), Run: moveMessages,
	},
	{
		Name: "list_moves", About: "Lists running and recent moves of messages", Options: "no-table-headers",
		Columns:  "id vhost queue to user state reason moved targets left left_by_reason rate started_at ended_at",
		Defaults: "id vhost queue state moved left left_by_reason", Title: verb.Text("Listing moves of messages ..."), Run: verb.Listed("x", "moves").Table(),
	},
	{
		Name: "stop_move", About: "Stops a move of messages; those already moved stay moved", Arguments: "<id>", Title: verb.Text("Stopping move {id} ..."),
		Run: verb.Deletes("x", "moves", "{id}").IfMissing(verb.Complaint("There is no such move, or it belongs to another user")),
	},
}

// checkTarget checks where messages are to be moved.
func checkTarget(arguments []string) (wrong string, code int) {
	if to := arguments[1]; to != "origin" && !strings.HasPrefix(to, "{") {
		return `Bad argument: <to> must be origin, '{"queue":"a queue"}' or '{"exchange":"an exchange"}'`, verb.ExitUsage
	}
	return "", 0
}

func moveMessages(ctx context.Context, broker *client.Client, c *verb.Call) error {
	body := map[string]any{"to": c.Arguments[1], "dry_run": c.DryRun}
	if to := c.Arguments[1]; json.Valid([]byte(to)) {
		body["to"] = json.RawMessage(to)
	}
	if ids := c.Arguments[2:]; len(ids) > 0 {
		body["ids"] = ids
	}
	if c.Rate > 0 {
		body["rate"] = c.Rate
	}
	o, err := broker.Change(ctx, http.MethodPost, nil, body, c.Of("move")...)
	if err != nil {
		return verb.Missing(err)
	}
	if !c.DryRun {
		c.Say("Move %s has started: list_moves shows its progress", verb.Cell(o["id"]))
		return nil
	}
	if verb.Cell(o["state"]) != "finished" {
		c.Say("Timeout: these results are incomplete")
	}
	for _, of := range []struct{ key, text string }{{"targets", "%s messages would go to queue '%s'"}, {"left_by_reason", "%s messages would stay: %s"}} {
		counts, _ := o[of.key].(map[string]any)
		names := make([]string, 0, len(counts))
		for name := range counts {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			c.Say(of.text, verb.Cell(counts[name]), name)
		}
	}
	return nil
}
