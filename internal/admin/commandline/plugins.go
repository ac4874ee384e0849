package commandline

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// Plugins is the name of RabbitMQ's tool with pluginVerbs.
const Plugins = "rabbitmq-plugins"

// explicit is the plugin that lists show as enabled by an operator; the others count as enabled by it.
const explicit = "rabbitmq_management"

// pluginVerbs are about RabbitMQ's plugins whose features the broker has itself: these plugins are always enabled.
var pluginVerbs = []verb.Row{
	{Tool: Plugins, Name: "disable", Arguments: "<plugin> [...]", Options: "online offline all", About: "Has no effect: the features of plugins are part of the broker", Title: ofPlugins("Disabling"), Run: disable},
	{Tool: Plugins, Name: "enable", Arguments: "<plugin> [...]", Options: "online offline all", About: "Fails if the broker does not have the features of a plugin", Title: ofPlugins("Enabling"), Run: enable},
	{
		Tool: Plugins, Name: "is_enabled", Arguments: "<plugin> [...]", Options: "online offline", About: "Fails if the broker does not have the features of a plugin",
		Title: func(c *verb.Call) string {
			if len(c.Arguments) > 1 {
				return c.Expand("Asking node {broker} if plugins {plugin} are enabled...")
			}
			return c.Expand("Asking node {broker} if plugin {plugin} is enabled...")
		},
		Run: isEnabled,
	},
	{
		Tool: Plugins, Name: "list", Arguments: "[<pattern>]", Options: "v verbose m minimal E enabled e implicitly-enabled", About: "Lists plugins with features that are part of the broker", Check: regular,
		Title: func(c *verb.Call) string { return `Listing plugins with pattern "` + patternOf(c.Arguments) + `" ...` }, Run: listPlugins,
	},
	{Tool: Plugins, Name: "set", Arguments: "<plugin> [...]", Options: "online offline", About: "Fails if the broker does not have the features of a plugin, like enable", Title: ofPlugins("Enabling"), Run: enable},
}

func ofPlugins(doing string) func(*verb.Call) string {
	return func(c *verb.Call) string {
		return doing + c.Expand(" plugins on node {broker}:\n") + strings.Join(c.Arguments, "\n")
	}
}

func patternOf(arguments []string) string {
	if len(arguments) == 0 {
		return ".*"
	}
	return arguments[0]
}

func regular(arguments []string) (wrong string, code int) {
	if _, err := regexp.Compile(patternOf(arguments)); err != nil {
		return "Bad argument: " + err.Error(), verb.ExitData
	}
	return "", 0
}

// enabled returns the names of the enabled plugins, and as others the arguments that name no enabled plugin.
func enabled(ctx context.Context, broker *client.Client, c *verb.Call) (names, others []string, node string, err error) {
	_, o, err := overviewAndNode(ctx, broker)
	if err != nil {
		return nil, nil, "", err
	}
	list, _ := o["enabled_plugins"].([]any)
	for _, name := range list {
		names = append(names, verb.Cell(name))
	}
	for _, name := range c.Arguments {
		if !slices.Contains(names, name) {
			others = append(others, name)
		}
	}
	return names, others, verb.Cell(o["name"]), nil
}

func isEnabled(ctx context.Context, broker *client.Client, c *verb.Call) error {
	names, others, node, err := enabled(ctx, broker, c)
	switch {
	case err != nil:
		return err
	case len(others) > 0:
		return verb.Complaint(counted(others) + " not enabled on node " + node + ". Enabled plugins and dependencies: " + strings.Join(names, ", "))
	}
	c.Say("%s enabled on node %s", counted(c.Arguments), node)
	return nil
}

// counted returns plugins as a subject with its verb.
func counted(plugins []string) string {
	if len(plugins) == 1 {
		return "Plugin " + plugins[0] + " is"
	}
	return "Plugins " + strings.Join(plugins, ", ") + " are"
}

func enable(ctx context.Context, broker *client.Client, c *verb.Call) error {
	_, others, node, err := enabled(ctx, broker, c)
	switch {
	case err != nil:
		return err
	case len(others) > 0:
		return verb.Complaint(fmt.Sprintf("%s not supported: rabbitmq-plugins list shows the features of node %s", counted(others), node))
	}
	c.Say("%s part of the broker on node %s: nothing changed", counted(c.Arguments), node)
	return nil
}

func disable(ctx context.Context, broker *client.Client, c *verb.Call) error {
	_, others, node, err := enabled(ctx, broker, c)
	if err != nil {
		return err
	}
	if kept := slices.DeleteFunc(slices.Clone(c.Arguments), func(name string) bool { return slices.Contains(others, name) }); len(kept) > 0 {
		c.Say("%s part of the broker on node %s and cannot be disabled: nothing changed", counted(kept), node)
	}
	return nil
}

func listPlugins(ctx context.Context, broker *client.Client, c *verb.Call) error {
	names, _, node, err := enabled(ctx, broker, c)
	if err != nil {
		return err
	}
	like := regexp.MustCompile(patternOf(c.Arguments))
	names = slices.DeleteFunc(names, func(name string) bool {
		return !like.MatchString(name) || (c.Given("E") || c.Given("enabled")) && name != explicit
	})
	if c.JSON {
		rows := make([]client.Object, len(names))
		for i, name := range names {
			rows[i] = client.Object{"name": name, "enabled": mode(name), "running": true}
		}
		return c.PrintTable([]string{"name", "enabled", "running"}, rows)
	}
	minimal := c.Given("m") || c.Given("minimal")
	if !minimal {
		c.Say(" Configured: E = explicitly enabled; e = implicitly enabled\n | Status: * = running on %s\n |/", node)
	}
	for _, name := range names {
		switch {
		case minimal:
			c.Say("%s", name)
		case mode(name) == "enabled":
			c.Say("[E*] %s", name)
		default:
			c.Say("[e*] %s", name)
		}
	}
	return nil
}

// mode is how a plugin was enabled.
func mode(name string) string {
	if name == explicit {
		return "enabled"
	}
	return "implicit"
}
