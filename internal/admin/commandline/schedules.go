package commandline

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var scheduleVerbs = []verb.Row{
	{
		Name: "set_schedule", About: "Creates or replaces a recurring schedule, from a JSON definition or options", Arguments: "<name> [<definition>]", Options: "vhost cron zone every queue body",
		Title: verb.Text(`Setting schedule "{name}" in vhost "{vhost}" ...`), Run: setSchedule,
	},
	{
		Name: "list_schedules", About: "Lists recurring schedules", Options: "vhost no-table-headers",
		Columns: `name user cron zone every at queue exchange routing_key jitter expires overlap missed paused note created state next runs stored skipped missed_runs refused
			unroutable last_time last_result last_reason`,
		Defaults: "name state cron every queue exchange next runs last_result", Title: verb.Text(`Listing schedules for vhost "{vhost}" ...`),
		Run: verb.Listed("x", "schedules", "{vhost}").With(flattenSchedule).Table(),
	},
	{
		Name: "next_runs", About: "Shows the next times of a schedule, of a cron expression or interval, or of all schedules", Arguments: "[<name>]",
		Options: "vhost no-table-headers count cron zone every",
		Title:   verb.Text("Listing next runs ..."), Run: verb.Rows(nextRuns).Table("name", "time", "utc", "reason"),
	},
	{
		Name: "pause_schedule", About: "Pauses a schedule", Arguments: "<name>", Options: "vhost note", Title: verb.Text(`Pausing schedule "{name}" ...`),
		Run: verb.Action(pauseSchedule).IfMissing(noSchedule),
	},
	{
		Name: "resume_schedule", About: "Resumes a schedule; its runs meanwhile are not missed", Arguments: "<name>", Options: "vhost", Title: verb.Text(`Resuming schedule "{name}" ...`),
		Run: verb.Posts("x", "schedules", "{vhost}", "{name}", "resume").IfMissing(noSchedule),
	},
	{
		Name: "trigger_schedule", About: "Publishes a run of a schedule at once", Arguments: "<name>", Options: "vhost", Title: verb.Text(`Triggering schedule "{name}" ...`),
		Run: verb.Action(triggerSchedule).IfMissing(noSchedule),
	},
	{
		Name: "backfill_schedule", About: "Publishes the runs of a past span, or shows the first of them with --dry-run", Arguments: "<name>", Options: "vhost from to rate overlap dry-run no-table-headers",
		Title: verb.Text(`Backfilling schedule "{name}" ...`), Run: verb.Action(backfillSchedule).IfMissing(noSchedule),
	},
	{
		Name: "cancel_backfill", About: "Ends the backfill of a schedule", Arguments: "<name>", Options: "vhost", Title: verb.Text(`Cancelling the backfill of schedule "{name}" ...`),
		Run: verb.Deletes("x", "schedules", "{vhost}", "{name}", "backfill").IfMissing(noSchedule),
	},
	{
		Name: "delete_schedule", About: "Deletes a schedule", Arguments: "<name>", Options: "vhost", Title: verb.Text(`Deleting schedule "{name}" in vhost "{vhost}" ...`),
		Run: verb.Deletes("x", "schedules", "{vhost}", "{name}").IfMissing(noSchedule),
	},
}

var noSchedule = verb.Complaint(`There is no schedule "{name}" in vhost "{vhost}"`)

// scheduleOf returns the schedule that the options describe.
func scheduleOf(c *verb.Call, options ...string) map[string]any {
	body, given := map[string]any{}, map[string]string{"cron": c.Cron, "zone": c.Zone, "every": c.Every, "queue": c.Queue, "body": c.Body}
	for _, key := range options {
		if c.Given(key) {
			body[key] = given[key]
		}
	}
	return body
}

func setSchedule(ctx context.Context, broker *client.Client, c *verb.Call) error {
	var body any = scheduleOf(c, "cron", "zone", "every", "queue", "body")
	if len(c.Arguments) > 1 {
		raw := json.RawMessage(c.Arguments[1])
		if !json.Valid(raw) || len(body.(map[string]any)) > 0 {
			return verb.Misuse("give either a JSON definition or options")
		}
		body = raw
	}
	o, err := broker.Change(ctx, http.MethodPut, nil, body, "x", "schedules", c.VHost, c.Arguments[0])
	warn(c, o)
	return err
}

// warn shows the warnings of an answer.
func warn(c *verb.Call, o client.Object) {
	warnings, _ := o["warnings"].([]any)
	for _, w := range warnings {
		if !c.Quiet {
			c.Say("Warning: %v", w)
		}
	}
}

// deleteUser deletes a user, and warns of schedules that publish as the user. Without a warning the answer is empty.
func deleteUser(ctx context.Context, broker *client.Client, c *verb.Call) error {
	answer, err := broker.Send(ctx, http.MethodDelete, nil, nil, "users", c.Arguments[0])
	if err != nil || len(answer) == 0 {
		return err
	}
	var o client.Object
	err = json.Unmarshal(answer, &o)
	warn(c, o)
	return err
}

// flattenSchedule moves the status of a schedule to columns.
func flattenSchedule(o client.Object) {
	status, _ := o["status"].(map[string]any)
	for _, key := range []string{"state", "next", "runs", "stored", "skipped", "refused", "unroutable"} {
		o[key] = status[key]
	}
	o["missed_runs"] = status["missed"]
	last, _ := status["last"].(map[string]any)
	o["last_time"], o["last_result"], o["last_reason"] = last["time"], last["result"], last["reason"]
}

func nextRuns(ctx context.Context, broker *client.Client, c *verb.Call) ([]client.Object, error) {
	draft, count, name := scheduleOf(c, "cron", "zone", "every"), c.Count, c.Expand("{name}")
	var o client.Object
	var err error
	switch {
	case len(draft) > 0 && name == "":
		draft["queue"], draft["preview_count"] = "none", count
		o, err = broker.Change(ctx, http.MethodPost, nil, draft, "x", "schedules", c.VHost, "preview")
	case len(draft) == 0 && name == "":
		list, err := broker.List(ctx, "x", "schedules", c.VHost)
		for _, one := range list {
			flattenSchedule(one)
			one["time"], one["utc"] = one["next"], one["next"]
		}
		return list, err
	case len(draft) == 0:
		o, err = broker.Change(ctx, http.MethodGet, map[string]string{"count": strconv.Itoa(count)}, nil, "x", "schedules", c.VHost, name, "next")
	default:
		return nil, verb.Misuse("give either the name of a schedule, or --cron or --every")
	}
	var rows []client.Object
	list, _ := o["next"].([]any)
	for _, one := range list {
		row, _ := one.(map[string]any)
		row["name"] = name
		rows = append(rows, row)
	}
	return rows, err
}

func pauseSchedule(ctx context.Context, broker *client.Client, c *verb.Call) error {
	_, err := broker.Send(ctx, http.MethodPost, map[string]string{"note": c.Note}, nil, "x", "schedules", c.VHost, c.Arguments[0], "pause")
	return err
}

func triggerSchedule(ctx context.Context, broker *client.Client, c *verb.Call) error {
	o, err := broker.Change(ctx, http.MethodPost, nil, map[string]string{}, "x", "schedules", c.VHost, c.Arguments[0], "trigger")
	switch {
	case err != nil:
		return err
	case o["result"] != "stored":
		return verb.Complaint(verb.Cell(o["result"]) + ": " + verb.Cell(o["reason"]))
	}
	return nil
}

func backfillSchedule(ctx context.Context, broker *client.Client, c *verb.Call) error {
	body := map[string]any{"overlap": c.Overlap, "preview": c.DryRun}
	for key, date := range map[string]string{"from": c.From, "to": c.To} {
		if c.Given(key) {
			body[key] = date
		}
	}
	if c.Given("rate") {
		body["rate"] = c.Rate
	}
	o, err := broker.Change(ctx, http.MethodPost, nil, body, "x", "schedules", c.VHost, c.Arguments[0], "backfill")
	switch {
	case err != nil || c.Quiet:
		return err
	case c.DryRun:
		list, _ := o["first"].([]any)
		for _, one := range list {
			row, _ := one.(map[string]any)
			c.Say("%v", row["time"])
		}
		c.Say("Runs in all: %v, in about %v s", o["runs"], o["seconds"])
	default:
		c.Say("Publishing %v runs in about %v s", o["runs"], o["seconds"])
	}
	return nil
}
