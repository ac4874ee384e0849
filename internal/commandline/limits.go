package commandline

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"candlemark/internal/auth"
	"candlemark/internal/httpapi/client"
)

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

// setVHostLimitsVerb replaces all limits of a virtual host.
var setVHostLimitsVerb = verb{
	arguments: []string{"definition"},
	banner: func(c *call) string {
		return fmt.Sprintf("Setting vhost limits to \"%s\" for vhost \"%s\" ...", c.arguments[0], c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
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
	},
}

var clearVHostLimitsVerb = verb{
	banner: func(c *call) string { return fmt.Sprintf("Clearing vhost \"%s\" limits ...", c.vhost) },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
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
	},
}

var listVHostLimitsVerb = verb{
	options: []string{"global", "no-table-headers"},
	banner: func(c *call) string {
		if c.global {
			return "Listing limits for all vhosts ..."
		}
		return fmt.Sprintf("Listing limits for vhost \"%s\" ...", c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		return limitedVHost.show(ctx, broker, c, c.vhost)
	},
}

// setUserLimitsVerb sets the limits of a user that it names; others stay.
var setUserLimitsVerb = verb{
	arguments: []string{"username", "definition"},
	banner: func(c *call) string {
		return fmt.Sprintf("Setting user limits to \"%s\" for user \"%s\" ...", c.arguments[1], c.arguments[0])
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		_, err := limitedUser.put(ctx, broker, c.arguments[0], c.arguments[1])
		return noSuchUser(err, c.arguments[0])
	},
}

var clearUserLimitsVerb = verb{
	arguments: []string{"username", "limit_type"},
	banner: func(c *call) string {
		if c.arguments[1] == "all" {
			return fmt.Sprintf("Clearing all limits for user \"%s\" ...", c.arguments[0])
		}
		return fmt.Sprintf("Clearing \"%s\" limit for user \"%s\" ...", c.arguments[1], c.arguments[0])
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		names := []string{c.arguments[1]}
		if c.arguments[1] == "all" {
			names = []string{auth.MaxConnections, auth.MaxChannels}
		}
		for _, name := range names {
			if err := broker.Delete(ctx, limitedUser.path, c.arguments[0], name); err != nil {
				return noSuchUser(err, c.arguments[0])
			}
		}
		return nil
	},
}

var listUserLimitsVerb = verb{
	options: []string{"user", "global", "no-table-headers"},
	banner: func(c *call) string {
		if c.global {
			return "Listing limits for all users ..."
		}
		return fmt.Sprintf("Listing limits for user \"%s\" ...", c.user)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		return noSuchUser(limitedUser.show(ctx, broker, c, c.user), c.user)
	},
}

// noSuchUser is err, or what rabbitmqctl says when it is that there is no such
// user.
func noSuchUser(err error, name string) error {
	if isMissing(err) {
		return complaint(fmt.Sprintf("{:no_such_user, \"%s\"}", name))
	}
	return err
}
