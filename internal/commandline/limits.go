package commandline

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"candlemark/internal/auth"
	"candlemark/internal/httpapi/client"
)

var limitVerbs = []verb{
	{
		name: "set_vhost_limits", about: "Sets the limits of a virtual host", arguments: "<definition>",
		title: text(`Setting vhost limits to "{definition}" for vhost "{vhost}" ...`), run: setVHostLimits,
	},
	{name: "clear_vhost_limits", about: "Removes the limits of a virtual host", title: text(`Clearing vhost "{vhost}" limits ...`), run: clearVHostLimits},
	{
		name: "list_vhost_limits", about: "Lists the limits of virtual hosts", options: "global no-table-headers",
		title: everybodys("Listing limits for all vhosts ...", `Listing limits for vhost "{vhost}" ...`),
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			return limitedVHost.show(ctx, broker, c, c.vhost)
		},
	},
	{
		name: "set_user_limits", about: "Sets the limits of a user", arguments: "<username> <definition>",
		title: text(`Setting user limits to "{definition}" for user "{username}" ...`),
		run: action(func(ctx context.Context, broker *client.Client, c *call) error {
			_, err := limitedUser.put(ctx, broker, c.arguments[0], c.arguments[1]) // others stay
			return err
		}).ifMissing(unlimitedUser),
	},
	{
		name: "clear_user_limits", about: "Removes limits of a user", arguments: "<username> <limit_type>",
		title: func(c *call) string {
			if c.arguments[1] == "all" {
				return c.expand(`Clearing all limits for user "{username}" ...`)
			}
			return c.expand(`Clearing "{limit_type}" limit for user "{username}" ...`)
		},
		run: action(clearUserLimits).ifMissing(unlimitedUser),
	},
	{
		name: "list_user_limits", about: "Lists the limits of users", options: "user global no-table-headers",
		title: everybodys("Listing limits for all users ...", `Listing limits for user "{user}" ...`),
		run: action(func(ctx context.Context, broker *client.Client, c *call) error {
			return limitedUser.show(ctx, broker, c, c.user)
		}).ifMissing(complaint(`{:no_such_user, "{user}"}`)),
	},
}

// everybodys is the title of a list with --global, or without.
func everybodys(all, one string) func(*call) string {
	return func(c *call) string {
		if c.global {
			return all
		}
		return c.expand(one)
	}
}

// limited names the owner of limits: a virtual host or a user.
type limited struct {
	path  string // of the API
	key   string // what names it there
	parse func([]byte) (auth.Limits, error)
}

var (
	limitedVHost = limited{"vhost-limits", "vhost", auth.ParseVHostLimits}
	limitedUser  = limited{"user-limits", "user", auth.ParseUserLimits}
)

// of are the limits of one.
func (l limited) of(ctx context.Context, broker *client.Client, name string) (map[string]any, error) {
	list, err := broker.List(ctx, l.path, name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	limits, _ := list[0]["value"].(map[string]any)
	return limits, nil
}

// put sets limits, all of which are sound.
func (l limited) put(ctx context.Context, broker *client.Client, name string, definition string) (auth.Limits, error) {
	if !json.Valid([]byte(definition)) {
		return nil, complaint("JSON decoding error. Reason: badarg")
	}
	limits, err := l.parse([]byte(definition))
	if err != nil {
		return nil, complaint(err.Error())
	}
	for _, limit := range slices.Sorted(maps.Keys(limits)) {
		if err := broker.Put(ctx, map[string]int64{"value": limits[limit]}, l.path, name, limit); err != nil {
			return nil, err
		}
	}
	return limits, nil
}

// show writes the limits of one as JSON, or of all as a table.
func (l limited) show(ctx context.Context, broker *client.Client, c *call, name string) error {
	if !c.global {
		limits, err := l.of(ctx, broker, name)
		if err != nil || limits == nil && l.key == limitedVHost.key {
			return err
		}
		c.say("%s", encoded(limits))
		return nil
	}
	list, err := broker.List(ctx, l.path)
	if err != nil {
		return err
	}
	for _, o := range list {
		limits, _ := o["value"].(map[string]any)
		o["limits"] = encoded(limits)
	}
	return c.printTable([]string{l.key, "limits"}, list)
}

func encoded(limits map[string]any) string {
	if limits == nil {
		return "{}"
	}
	text, err := json.Marshal(limits)
	if err != nil {
		panic(err) // it came as JSON
	}
	return string(text)
}

// setVHostLimits replaces all limits of a virtual host.
func setVHostLimits(ctx context.Context, broker *client.Client, c *call) error {
	before, err := limitedVHost.of(ctx, broker, c.vhost)
	if err != nil {
		return err
	}
	after, err := limitedVHost.put(ctx, broker, c.vhost, c.arguments[0])
	if err != nil {
		return err
	}
	for name := range before {
		if _, stays := after[name]; stays {
			continue
		}
		if err := broker.Delete(ctx, limitedVHost.path, c.vhost, name); err != nil {
			return err
		}
	}
	return nil
}

func clearVHostLimits(ctx context.Context, broker *client.Client, c *call) error {
	limits, err := limitedVHost.of(ctx, broker, c.vhost)
	if limits == nil && (err == nil || isMissing(err)) {
		return complaint("Parameter does not exist")
	}
	for name := range limits {
		if err := broker.Delete(ctx, limitedVHost.path, c.vhost, name); err != nil {
			return err
		}
	}
	return err
}

func clearUserLimits(ctx context.Context, broker *client.Client, c *call) error {
	names := []string{c.arguments[1]}
	if c.arguments[1] == "all" {
		names = []string{auth.MaxConnections, auth.MaxChannels}
	}
	for _, name := range names {
		if err := broker.Delete(ctx, limitedUser.path, c.arguments[0], name); err != nil {
			return err
		}
	}
	return nil
}

// unlimitedUser is about one who is not there.
var unlimitedUser = complaint(`{:no_such_user, "{username}"}`)
