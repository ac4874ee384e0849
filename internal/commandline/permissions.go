package commandline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"candlemark/internal/httpapi/client"
	"candlemark/policies/pattern"
)

var permissionVerbs = []verb{
	{
		name: "set_permissions", about: "Sets what a user may configure, write and read in a virtual host", arguments: "<username> <conf> <write> <read>",
		title: text(`Setting permissions for user "{username}" in vhost "{vhost}" ...`),
		run: inOrder(sound("'", 1), holder, puts(
			fields(map[string]string{"configure": "{conf}", "write": "{write}", "read": "{read}"}), "permissions", "{vhost}", "{username}",
		)),
	},
	{
		name: "clear_permissions", about: "Takes the permissions in a virtual host from a user", arguments: "<username>",
		title: text(`Clearing permissions for user "{username}" in vhost "{vhost}" ...`),
		run:   inOrder(holder, deletes("permissions", "{vhost}", "{username}").ifMissing(nil)),
	},
	{
		name: "list_permissions", about: "Lists the permissions in a virtual host", options: "no-table-headers", title: text(`Listing permissions for vhost "{vhost}" ...`),
		run: listed("vhosts", "{vhost}", "permissions").table("user", "configure", "write", "read"),
	},
	{
		name: "list_user_permissions", about: "Lists the permissions of a user", arguments: "<username>", options: "no-table-headers",
		title: text(`Listing permissions for user "{username}" ...`),
		run:   listed("users", "{username}", "permissions").table("vhost", "configure", "write", "read").ifMissing(noSuchUser),
	},
	{
		name: "set_topic_permissions", about: "Sets which routing keys a user may use at a topic exchange", arguments: "<username> <exchange> <write> <read>",
		title: text(`Setting topic permissions on "{exchange}" for user "{username}" in vhost "{vhost}" ...`),
		run: inOrder(sound("\"", 2), holder, puts(
			fields(map[string]string{"exchange": "{exchange}", "write": "{write}", "read": "{read}"}), "topic-permissions", "{vhost}", "{username}",
		)),
	},
	{
		name: "clear_topic_permissions", about: "Takes topic permissions in a virtual host from a user", arguments: "<username> [<exchange>]",
		title: oneOrTwo(
			`Clearing topic permissions for user "{username}" in vhost "{vhost}" ...`,
			`Clearing topic permissions on "{exchange}" for user "{username}" in vhost "{vhost}" ...`,
		),
		run: inOrder(holder, action(clearTopic).ifMissing(nil)),
	},
	{
		name: "list_topic_permissions", about: "Lists the topic permissions in a virtual host", options: "no-table-headers", title: text(`Listing topic permissions for vhost "{vhost}" ...`),
		run: listed("vhosts", "{vhost}", "topic-permissions").table("user", "exchange", "write", "read"),
	},
	{
		name: "list_user_topic_permissions", about: "Lists the topic permissions of a user", arguments: "<username>", options: "no-table-headers",
		title: text(`Listing topic permissions for user "{username}" ...`),
		run: inOrder(
			withoutHeaders,
			listed("users", "{username}", "topic-permissions").table("vhost", "exchange", "write", "read").ifMissing(noSuchUser),
		),
	},
}

// sound compiles the expressions among the arguments, from one on, here as well, because rabbitmqctl says what is wrong
// with one. quote is the mark that it puts around it.
func sound(quote string, from int) action {
	return func(_ context.Context, _ *client.Client, c *call) error {
		for _, source := range c.arguments[from:] {
			_, err := pattern.Compile(source)
			if invalid := (*pattern.Error)(nil); errors.As(err, &invalid) {
				return complaint(fmt.Sprintf("{:invalid_regexp, %s%s%s, {'%s', %d}}", quote, source, quote, invalid.Message, invalid.At))
			}
		}
		return nil
	}
}

// holder checks that the user and the virtual host of a verb about permissions
// are there.
func holder(ctx context.Context, broker *client.Client, c *call) error {
	if _, err := knownUser(ctx, broker, c.arguments[0], "User %s does not exist"); err != nil {
		return err
	}
	_, err := broker.Get(ctx, "vhosts", c.vhost)
	if isMissing(err) {
		return complaint("Virtual host " + c.vhost + " does not exist")
	}
	return err
}

var noSuchUser = &exit{ExitNoUser, `{:no_such_user, "{username}"}`}

func withoutHeaders(_ context.Context, _ *client.Client, c *call) error {
	c.headers = false
	return nil
}

func clearTopic(ctx context.Context, broker *client.Client, c *call) error {
	path := []string{"topic-permissions", c.vhost, c.arguments[0]}
	if len(c.arguments) > 1 {
		path = append(path, cmp.Or(c.arguments[1], "amq.default"))
	}
	return broker.Delete(ctx, path...)
}
