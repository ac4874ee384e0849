package commandline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/commandline/format"
	"candlemark/internal/config"
	"candlemark/internal/httpapi/client"
)

var alarmVerbs = []verb{
	{
		// From how much memory on publishers are blocked, until the broker is started anew.
		name: "set_vm_memory_high_watermark", about: "Changes how much memory may be used before publishers are blocked, until the next start", arguments: "<fraction|absolute> [<size>]", check: checkWatermark,
		title: oneOrTwo("Setting memory threshold on {broker} to {fraction|absolute} ...", "Setting memory threshold on {broker} to {size} bytes ..."),
		run:   puts(oneOf("relative", "absolute"), "memory-high-watermark"),
	},
	{
		// Below how much free disk they are.
		name: "set_disk_free_limit", about: "Changes how much disk space must be free, until the next start", arguments: "<size|mem_relative> [<fraction>]", check: checkDiskLimit,
		title: oneOrTwo(
			"Setting disk free limit on {broker} to {size|mem_relative} bytes ...",
			"Setting disk free limit on {broker} to {fraction} times the total RAM ...",
		),
		run: puts(oneOf("absolute", "mem_relative"), "disk-free-limit"),
	},
	{
		name: "alarms", about: "Lists the alarms that are set", title: text("Asking node {broker} to report any known resource alarms ..."),
		run: alarms("alarms, local or clusterwide", false, true),
	},
	{
		name: "check_alarms", about: "Fails if an alarm is set", title: text("Asking node {broker} to report any local resource alarms ..."),
		run: alarms("alarms, local or clusterwide", true, true),
	},
	{
		name: "check_local_alarms", about: "Fails if an alarm is set on this node", title: text("Asking node {broker} to report any local resource alarms ..."),
		run: alarms("local alarms", true, false),
	},
}

// oneOf is the only argument by one name, or the second by another.
func oneOf(only, second string) func(*call) map[string]string {
	return func(c *call) map[string]string {
		if len(c.arguments) > 1 {
			return map[string]string{second: c.arguments[1]}
		}
		return map[string]string{only: c.arguments[0]}
	}
}

// words checks that a word stands alone or, if it is keyword, before a value.
func words(arguments []string, keyword string) (wrong string, code int) {
	switch {
	case arguments[0] == keyword && len(arguments) == 1:
		return "not enough arguments.", ExitUsage
	case arguments[0] != keyword && len(arguments) > 1:
		return "too many arguments.", ExitUsage
	}
	return "", 0
}

func checkWatermark(arguments []string) (wrong string, code int) {
	if wrong, code = words(arguments, "absolute"); wrong != "" {
		return wrong, code
	}
	if len(arguments) > 1 {
		whole, unit := splitSize(arguments[1])
		switch {
		case whole == "":
			return "Bad argument.", ExitData
		case strings.HasPrefix(unit, "."):
			return "Bad argument: The threshold should be an integer.", ExitData
		case !knownSize(arguments[1]):
			return "Bad argument: Invalid units.", ExitData
		}
		return "", 0
	}
	f, err := strconv.ParseFloat(arguments[0], 64)
	switch {
	case err != nil:
		return "Bad argument.", ExitData
	case !(f >= 0 && f <= 1):
		return "Bad argument: The threshold should be a fraction between 0.0 and 1.0", ExitData
	}
	return "", 0
}

func checkDiskLimit(arguments []string) (wrong string, code int) {
	if wrong, code = words(arguments, "mem_relative"); wrong != "" {
		return wrong, code
	}
	if len(arguments) > 1 {
		if _, err := config.ParseDiskLimit("mem_relative " + arguments[1]); err != nil {
			return "Bad argument.", ExitData
		}
	} else if !knownSize(arguments[0]) {
		return "Bad argument.", ExitData
	}
	return "", 0
}

// splitSize divides a size into its digits and what follows them.
func splitSize(text string) (digits, unit string) {
	unit = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(unit)], unit
}

// knownSize tells whether rabbitmqctl would take a size. It is stricter than the
// broker: units have one spelling.
func knownSize(text string) bool {
	_, unit := splitSize(text)
	_, err := config.ParseSize(text)
	return err == nil && slices.Contains(strings.Fields("k kiB M MiB G GiB kB MB GB"), unit) || err == nil && unit == ""
}

// alarms tells of alarms. A check fails if there are any; local is all that
// there is on one node.
func alarms(reports string, check, plain bool) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		node, lines, err := alarmsNow(ctx, broker)
		if err != nil {
			return err
		}
		failed := check && len(lines) > 0
		text := strings.Join(lines, "\n")
		switch {
		case c.json:
			text = format.AlarmsJSON(node, lines, check)
		case c.silent && check:
			text = ""
		case len(lines) == 0:
			text = fmt.Sprintf("Node %s reported no %s", node, reports)
		}
		switch {
		case failed && (plain || c.json || c.silent):
			return failedCheck(text)
		case failed:
			return &exit{ExitUnavailable, text}
		case text != "":
			c.say("%s", text)
		}
		return nil
	}
}

// alarmsNow names the node and its alarms, as rabbitmqctl does.
func alarmsNow(ctx context.Context, broker *client.Client) (node string, lines []string, err error) {
	overview, shown, err := overviewAndNode(ctx, broker)
	return cell(overview["node"]), format.AlarmLines(shown), err
}
