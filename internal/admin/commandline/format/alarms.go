package format

import (
	"encoding/json"
	"fmt"
)

// AlarmLines returns the alarms of a node.
func AlarmLines(node map[string]any) (lines []string) {
	if node["disk_free_alarm"] == true {
		lines = append(lines, "Free disk space alarm on node "+Cell(node["name"]))
	}
	if node["mem_alarm"] == true {
		lines = append(lines, "Memory alarm on node "+Cell(node["name"]))
	}
	return lines
}

// AlarmsJSON prints the alarms of a node in JSON; a check fails if there are any.
func AlarmsJSON(node string, lines []string, check bool) string {
	object := map[string]any{"result": "ok"}
	switch {
	case len(lines) > 0:
		object = map[string]any{"result": "ok", "local": lines, "global": []string{}, "message": fmt.Sprintf("Node %s reported alarms", node)}
		if check {
			object["result"] = "error"
		}
	case !check:
		object["alarms"], object["node"] = []string{}, node
	}
	text, _ := json.Marshal(object) // texts can be
	return string(text)
}
