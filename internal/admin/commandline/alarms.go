package commandline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/admin/commandline/format"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/client"
)

var alarmVerbs = []verb.Row{
	{
		// The memory in use above which publishers are blocked, until the broker restarts.
		Name: "set_vm_memory_high_watermark", About: "Sets the memory high watermark, above which publishers are blocked, until the next start", Arguments: "<fraction|absolute> [<size>]", Check: checkWatermark,
		Title: verb.OneOrTwo("Setting memory threshold on {broker} to {fraction|absolute} ...", "Setting memory threshold on {broker} to {size} bytes ..."),
		Run:   verb.Puts(oneOf("relative", "absolute"), "memory-high-watermark"),
	},
	{
		// The free disk space below which publishers are blocked.
		Name: "set_disk_free_limit", About: "Sets the free disk space limit, until the next start", Arguments: "<size|mem_relative> [<fraction>]", Check: checkDiskLimit,
		Title: verb.OneOrTwo(
			"Setting disk free limit on {broker} to {size|mem_relative} bytes ...",
			"Setting disk free limit on {broker} to {fraction} times the total RAM ...",
		),
		Run: verb.Puts(oneOf("absolute", "mem_relative"), "disk-free-limit"),
	},
	{
		Name: "alarms", About: "Lists alarms in effect", Title: verb.Text("Asking node {broker} to report any known resource alarms ..."),
		Run: alarms("alarms, local or clusterwide", false, true),
	},
	{
		Name: "check_alarms", About: "Fails if an alarm is in effect", Title: verb.Text("Asking node {broker} to report any local resource alarms ..."),
		Run: alarms("alarms, local or clusterwide", true, true),
	},
	{
		Name: "check_local_alarms", About: "Fails if an alarm is in effect on this node", Title: verb.Text("Asking node {broker} to report any local resource alarms ..."),
		Run: alarms("local alarms", true, false),
	},
}

// oneOf returns the only argument by one name, or the second by another.
func oneOf(only, second string) func(*verb.Call) map[string]string {
	return func(c *verb.Call) map[string]string {
		if len(c.Arguments) > 1 {
			return map[string]string{second: c.Arguments[1]}
		}
		return map[string]string{only: c.Arguments[0]}
	}
}

// words checks that a word stands alone or, if it is keyword, before a value.
func words(arguments []string, keyword string) (wrong string, code int) {
	switch {
	case arguments[0] == keyword && len(arguments) == 1:
		return "not enough arguments.", verb.ExitUsage
	case arguments[0] != keyword && len(arguments) > 1:
		return "too many arguments.", verb.ExitUsage
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
			return "Bad argument: the size must be a number of bytes or a size such as 2GB", verb.ExitData
		case strings.HasPrefix(unit, "."):
			return "Bad argument: The threshold should be an integer.", verb.ExitData
		case !knownSize(arguments[1]):
			return "Bad argument: Invalid units.", verb.ExitData
		}
		return "", 0
	}
	f, err := strconv.ParseFloat(arguments[0], 64)
	switch {
	case err != nil:
		return "Bad argument: the threshold must be a fraction of the memory such as 0.6, or absolute and a size such as 2GB", verb.ExitData
	case !(f >= 0 && f <= 1):
		return "Bad argument: The threshold should be a fraction between 0.0 and 1.0", verb.ExitData
	}
	return "", 0
}

func checkDiskLimit(arguments []string) (wrong string, code int) {
	if wrong, code = words(arguments, "mem_relative"); wrong != "" {
		return wrong, code
	}
	if len(arguments) > 1 {
		if _, err := config.ParseDiskLimit("mem_relative " + arguments[1]); err != nil {
			return "Bad argument: the fraction of the memory must be a number such as 1.5", verb.ExitData
		}
	} else if !knownSize(arguments[0]) {
		return "Bad argument: the limit must be a number of bytes, a size such as 2GB, or mem_relative and a fraction of the memory", verb.ExitData
	}
	return "", 0
}

// splitSize divides a size into its digits and what follows them.
func splitSize(text string) (digits, unit string) {
	unit = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(unit)], unit
}

// knownSize reports whether rabbitmqctl would take a size. It is stricter than the broker: units have one spelling.
func knownSize(text string) bool {
	_, unit := splitSize(text)
	_, err := config.ParseSize(text)
	return err == nil && slices.Contains(strings.Fields("k kiB M MiB G GiB kB MB GB"), unit) || err == nil && unit == ""
}

// alarms prints the alarms. A check fails if there are any; local is all that there is on one node.
func alarms(reports string, check, plain bool) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		node, lines, err := alarmsNow(ctx, broker)
		if err != nil {
			return err
		}
		failed := check && len(lines) > 0
		text := strings.Join(lines, "\n")
		switch {
		case c.JSON:
			text = format.AlarmsJSON(node, lines, check)
		case c.Silent && check:
			text = ""
		case len(lines) == 0:
			text = fmt.Sprintf("Node %s reported no %s", node, reports)
		}
		switch {
		case failed && (plain || c.JSON || c.Silent):
			return verb.FailedCheck(text)
		case failed:
			return verb.Fail(verb.ExitUnavailable, text)
		case text != "":
			c.Say("%s", text)
		}
		return nil
	}
}

// alarmsNow names the node and its alarms, as rabbitmqctl does.
func alarmsNow(ctx context.Context, broker *client.Client) (node string, lines []string, err error) {
	overview, shown, err := overviewAndNode(ctx, broker)
	return verb.Cell(overview["node"]), format.AlarmLines(shown), err
}
