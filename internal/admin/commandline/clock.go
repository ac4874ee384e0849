package commandline

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// clockUse names what can be done with a test clock.
const clockUse = "show, advance <time>, set <time>, next [<number>], freeze, run"

var clockVerbs = []verb.Row{
	{
		Name: "clock", Arguments: "[<action>] [<value>]", Options: "grace speed", Check: checkClock,
		About: "Shows the broker's clock or changes a test clock: " + clockUse,
		Title: clockTitle, Run: clock,
	},
}

// clockArguments returns the action, and its value if it has one.
func clockArguments(arguments []string) (action, value string) {
	switch action = "show"; len(arguments) {
	case 0:
		return action, ""
	case 1:
		if action = arguments[0]; action == "next" {
			value = "1"
		}
		return action, value
	}
	return arguments[0], arguments[1]
}

func checkClock(arguments []string) (wrong string, code int) {
	action, value := clockArguments(arguments)
	switch action {
	case "advance", "set", "next":
		if value == "" {
			return "not enough arguments.", verb.ExitUsage
		}
	case "show", "freeze", "run":
		if value != "" {
			return "too many arguments.", verb.ExitUsage
		}
	default:
		return "Bad argument: '" + action + "' is not one of " + clockUse, verb.ExitUsage
	}
	return "", 0
}

func clockTitle(c *verb.Call) string {
	switch action, value := clockArguments(c.Arguments); action {
	case "advance":
		return c.Expand("Moving the clock of {broker} by ") + value + " ..."
	case "set":
		return c.Expand("Setting the clock of {broker} to ") + value + " ..."
	case "next":
		return c.Expand("Moving the clock of {broker} to its next deadline ...")
	case "freeze":
		return c.Expand("Freezing the clock of {broker} ...")
	case "run":
		return c.Expand("Letting the clock of {broker} run ...")
	}
	return c.Expand("Asking {broker} for its clock ...")
}

// clock shows or changes the clock. A move that ends early is a failure that can be repeated: exit 75.
func clock(ctx context.Context, broker *client.Client, c *verb.Call) error {
	action, value := clockArguments(c.Arguments)
	if action == "show" {
		now, err := broker.Get(ctx, "x", "clock")
		if err != nil {
			return err
		}
		return showClock(c, now)
	}
	limit := time.Duration(c.Timeout) * time.Second
	body := map[string]any{"timeout": max(limit-500*time.Millisecond, limit/2).Milliseconds()} // the broker answers first
	switch action {
	case "freeze":
		body["mode"] = "frozen"
	case "run":
		body["mode"], body["speed"] = "running", c.Speed
	default:
		body[action] = value
	}
	if c.Grace != "" {
		body["grace"] = c.Grace
	}
	answer, err := broker.Send(ctx, "POST", body, nil, "x", "clock")
	if err != nil {
		return err
	}
	var moved struct {
		Time    string
		Moved   int64 `json:"moved_ms"`
		Steps   int
		Done    bool
		Stopped string
		Counts  map[string]int64
	}
	if err := json.Unmarshal(answer, &moved); err != nil {
		return err
	}
	if c.JSON {
		c.Say("%s", strings.TrimSpace(string(answer)))
	} else {
		text := ""
		for _, what := range slices.Sorted(maps.Keys(moved.Counts)) {
			if n := moved.Counts[what]; n != 0 {
				text += fmt.Sprintf(", %s %d", strings.ReplaceAll(what, "_", " "), n)
			}
		}
		c.Say("%s, moved %s%s", moved.Time, time.Duration(moved.Moved)*time.Millisecond, text)
	}
	if !moved.Done {
		return verb.Fail(verb.ExitTempFail, "the clock has not reached its target ("+moved.Stopped+"): repeat the command to continue")
	}
	return nil
}

func showClock(c *verb.Call, now client.Object) error {
	if c.JSON {
		text, err := json.Marshal(now)
		c.Say("%s", text)
		return err
	}
	kind := "the machine's clock"
	if now["test_clock"] == true {
		kind = "test clock, " + verb.Cell(now["mode"])
		if now["mode"] == "running" {
			kind += " at " + verb.Cell(now["speed"])
		}
	}
	c.Say("%s (%s)", verb.Cell(now["time"]), kind)
	next, _ := now["next"].(map[string]any)
	if next == nil {
		c.Say("nothing is due")
		return nil
	}
	text := verb.Cell(next["at"]) + " " + verb.Cell(next["fate"])
	for _, of := range []string{"queue", "exchange"} {
		if next[of] != nil {
			text += " in " + of + " '" + verb.Cell(next[of]) + "' of vhost '" + verb.Cell(next["vhost"]) + "'"
		}
	}
	c.Say("next: %s", text)
	return nil
}
