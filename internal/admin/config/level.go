package config

import (
	"fmt"
	"slices"
	"strings"
)

// levels are the log levels, from the most messages to none.
var levels = []string{"trace", "debug", "info", "warn", "error", "fatal", "disabled"}

// rabbitLevels maps RabbitMQ's names of levels to Candlemark's.
var rabbitLevels = map[string]string{"notice": "info", "warning": "warn", "critical": "fatal", "alert": "fatal", "emergency": "fatal", "none": "disabled"}

// Level returns the log level of that name, which may be RabbitMQ's and in any case: trace, debug, info, warn, error,
// fatal or disabled.
func Level(name string) (string, error) {
	level := strings.ToLower(name)
	if ours, known := rabbitLevels[level]; known {
		return ours, nil
	}
	if !slices.Contains(levels, level) {
		return "", fmt.Errorf("%q is not a log level: trace, debug, info, warning, error, critical or none%s", name, didYouMean(level, levels))
	}
	return level, nil
}
