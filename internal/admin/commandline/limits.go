package commandline

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var limitVerbs = []verb.Row{
	{
		Name: "set_vhost_limits", Options: "vhost", About: "Sets the limits of a virtual host", Arguments: "<definition>",
		Title: verb.Text(`Setting vhost limits to "{definition}" for vhost "{vhost}" ...`), Run: setVHostLimits,
	},
	{Name: "clear_vhost_limits", Options: "vhost", About: "Removes the limits of a virtual host", Title: verb.Text(`Clearing vhost "{vhost}" limits ...`), Run: clearVHostLimits},
	{
		Name: "list_vhost_limits", About: "Lists the limits of virtual hosts", Options: "vhost global no-table-headers",
		Title: everybodys("Listing limits for all vhosts ...", `Listing limits for vhost "{vhost}" ...`),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			return limitedVHost.show(ctx, broker, c, c.VHost)
		},
	},
	{
		Name: "set_user_limits", About: "Sets the limits of a user", Arguments: "<username> <definition>",
		Title: verb.Text(`Setting user limits to "{definition}" for user "{username}" ...`),
		Run: verb.Action(func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			_, err := limitedUser.put(ctx, broker, c.Arguments[0], c.Arguments[1]) // others stay
			return err
		}).IfMissing(unlimitedUser),
	},
	{
		Name: "clear_user_limits", About: "Removes limits of a user", Arguments: "<username> <limit_type>",
		Title: func(c *verb.Call) string {
			if c.Arguments[1] == "all" {
				return c.Expand(`Clearing all limits for user "{username}" ...`)
			}
			return c.Expand(`Clearing "{limit_type}" limit for user "{username}" ...`)
		},
		Run: verb.Action(clearUserLimits).IfMissing(unlimitedUser),
	},
	{
		Name: "list_user_limits", About: "Lists the limits of users", Options: "user global no-table-headers",
		Title: everybodys("Listing limits for all users ...", `Listing limits for user "{user}" ...`),
		Run: verb.Action(func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			return limitedUser.show(ctx, broker, c, c.User)
		}).IfMissing(verb.Complaint(`{:no_such_user, "{user}"}`)),
	},
}

// everybodys returns the title of a list with --global, or without.
func everybodys(all, one string) func(*verb.Call) string {
	return func(c *verb.Call) string {
		if c.Global {
			return all
		}
		return c.Expand(one)
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

// of returns the limits of one.
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
		return nil, verb.Complaint("JSON decoding error. Reason: badarg")
	}
	limits, err := l.parse([]byte(definition))
	if err != nil {
		return nil, verb.Complaint(err.Error())
	}
	for _, limit := range slices.Sorted(maps.Keys(limits)) {
		if err := broker.Put(ctx, map[string]int64{"value": limits[limit]}, l.path, name, limit); err != nil {
			return nil, err
		}
	}
	return limits, nil
}

// show writes the limits of one as JSON, or of all as a table.
func (l limited) show(ctx context.Context, broker *client.Client, c *verb.Call, name string) error {
	if !c.Global {
		limits, err := l.of(ctx, broker, name)
		switch {
		case err != nil:
			return err
		case limits != nil || l.key != limitedVHost.key:
			c.Say("%s", encoded(limits))
		case c.JSON:
			c.Say("[]")
		default:
			c.Say("") // an empty line, as rabbitmqctl
		}
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
	return c.PrintTable([]string{l.key, "limits"}, list)
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
func setVHostLimits(ctx context.Context, broker *client.Client, c *verb.Call) error {
	before, err := limitedVHost.of(ctx, broker, c.VHost)
	if err != nil {
		return err
	}
	after, err := limitedVHost.put(ctx, broker, c.VHost, c.Arguments[0])
	if err != nil {
		return err
	}
	for name := range before {
		if _, stays := after[name]; stays {
			continue
		}
		if err := broker.Delete(ctx, limitedVHost.path, c.VHost, name); err != nil {
			return err
		}
	}
	return nil
}

func clearVHostLimits(ctx context.Context, broker *client.Client, c *verb.Call) error {
	limits, err := limitedVHost.of(ctx, broker, c.VHost)
	if limits == nil && (err == nil || verb.IsMissing(err)) {
		return verb.Complaint("Parameter does not exist")
	}
	for name := range limits {
		if err := broker.Delete(ctx, limitedVHost.path, c.VHost, name); err != nil {
			return err
		}
	}
	return err
}

func clearUserLimits(ctx context.Context, broker *client.Client, c *verb.Call) error {
	names := []string{c.Arguments[1]}
	if c.Arguments[1] == "all" {
		names = []string{auth.MaxConnections, auth.MaxChannels}
	}
	for _, name := range names {
		if err := broker.Delete(ctx, limitedUser.path, c.Arguments[0], name); err != nil {
			return err
		}
	}
	return nil
}

// unlimitedUser is the error for an unknown user.
var unlimitedUser = verb.Complaint(`{:no_such_user, "{username}"}`)
