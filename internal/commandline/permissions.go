package commandline

import (
	"context"
	"errors"
	"fmt"

	"candlemark/internal/httpapi/client"
	"candlemark/policies"
)

// sound compiles expressions here as well, because rabbitmqctl says what is wrong
// with one. quote is the mark that it puts around it.
func sound(quote string, expressions ...string) error {
	for _, source := range expressions {
		_, err := policies.CompileExpression(source)
		if invalid := (*policies.ExpressionError)(nil); errors.As(err, &invalid) {
			return complaint(fmt.Sprintf("{:invalid_regexp, %s%s%s, {'%s', %d}}", quote, source, quote, invalid.Message, invalid.At))
		}
	}
	return nil
}

// holder checks that the user and the virtual host of a verb about permissions
// are there.
func (c *call) holder(ctx context.Context, broker *client.Client) error {
	if _, err := knownUser(ctx, broker, c.arguments[0], "User %s does not exist"); err != nil {
		return err
	}
	_, err := broker.Get(ctx, "vhosts", c.vhost)
	if isMissing(err) {
		return complaint("Virtual host " + c.vhost + " does not exist")
	}
	return err
}

var setPermissionsVerb = verb{
	arguments: []string{"username", "conf", "write", "read"},
	banner: func(c *call) string {
		return fmt.Sprintf("Setting permissions for user \"%s\" in vhost \"%s\" ...", c.arguments[0], c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		if err := sound("'", c.arguments[1:]...); err != nil {
			return err
		}
		if err := c.holder(ctx, broker); err != nil {
			return err
		}
		return broker.Put(ctx, map[string]string{
			"configure": c.arguments[1], "write": c.arguments[2], "read": c.arguments[3],
		}, "permissions", c.vhost, c.arguments[0])
	},
}

var clearPermissionsVerb = verb{
	arguments: []string{"username"},
	banner: func(c *call) string {
		return fmt.Sprintf("Clearing permissions for user \"%s\" in vhost \"%s\" ...", c.arguments[0], c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		if err := c.holder(ctx, broker); err != nil {
			return err
		}
		return unlessMissing(broker.Delete(ctx, "permissions", c.vhost, c.arguments[0]))
	},
}

var (
	listPermissionsVerb          = listOfVHost("permissions", "permissions", "user", "configure", "write", "read")
	listTopicPermissionsVerb     = listOfVHost("topic-permissions", "topic permissions", "user", "exchange", "write", "read")
	listUserPermissionsVerb      = listOfUser("permissions", "permissions", true, "vhost", "configure", "write", "read")
	listUserTopicPermissionsVerb = listOfUser("topic-permissions", "topic permissions", false, "vhost", "exchange", "write", "read")
)

// listOfVHost lists what users hold in a virtual host.
func listOfVHost(path, what string, columns ...string) verb {
	return verb{
		options: []string{"no-table-headers"},
		banner:  func(c *call) string { return fmt.Sprintf("Listing %s for vhost \"%s\" ...", what, c.vhost) },
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			list, err := broker.List(ctx, "vhosts", c.vhost, path)
			if err != nil {
				return err
			}
			return c.printTable(columns, list)
		},
	}
}

// listOfUser lists what a user holds in all virtual hosts.
func listOfUser(path, what string, headers bool, columns ...string) verb {
	return verb{
		arguments: []string{"username"}, options: []string{"no-table-headers"},
		banner: func(c *call) string { return fmt.Sprintf("Listing %s for user \"%s\" ...", what, c.arguments[0]) },
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			list, err := broker.List(ctx, "users", c.arguments[0], path)
			if isMissing(err) {
				return &exit{ExitNoUser, fmt.Sprintf("{:no_such_user, \"%s\"}", c.arguments[0])}
			}
			if err != nil {
				return err
			}
			c.headers = c.headers && headers
			return c.printTable(columns, list)
		},
	}
}

var setTopicPermissionsVerb = verb{
	arguments: []string{"username", "exchange", "write", "read"},
	banner: func(c *call) string {
		return fmt.Sprintf("Setting topic permissions on \"%s\" for user \"%s\" in vhost \"%s\" ...", c.arguments[1], c.arguments[0], c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		if err := sound("\"", c.arguments[2:]...); err != nil {
			return err
		}
		if err := c.holder(ctx, broker); err != nil {
			return err
		}
		return broker.Put(ctx, map[string]string{
			"exchange": c.arguments[1], "write": c.arguments[2], "read": c.arguments[3],
		}, "topic-permissions", c.vhost, c.arguments[0])
	},
}

var clearTopicPermissionsVerb = verb{
	arguments: []string{"username"}, optional: []string{"exchange"},
	banner: func(c *call) string {
		on := ""
		if len(c.arguments) > 1 {
			on = fmt.Sprintf(" on \"%s\"", c.arguments[1])
		}
		return fmt.Sprintf("Clearing topic permissions%s for user \"%s\" in vhost \"%s\" ...", on, c.arguments[0], c.vhost)
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		if err := c.holder(ctx, broker); err != nil {
			return err
		}
		path := []string{"topic-permissions", c.vhost, c.arguments[0]}
		if len(c.arguments) > 1 {
			exchange := c.arguments[1]
			if exchange == "" {
				exchange = "amq.default"
			}
			path = append(path, exchange)
		}
		return unlessMissing(broker.Delete(ctx, path...))
	},
}
