package commandline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
	"candlemark/policies/pattern"
)

var permissionVerbs = []verb.Row{
	{
		Name: "set_permissions", Options: "vhost", About: "Sets the permissions of a user in a virtual host: configure, write, read", Arguments: "<username> <conf> <write> <read>",
		Title: verb.Text(`Setting permissions for user "{username}" in vhost "{vhost}" ...`),
		Run: verb.InOrder(sound("'", 1), holder, verb.Puts(
			verb.Fields(map[string]string{"configure": "{conf}", "write": "{write}", "read": "{read}"}), "permissions", "{vhost}", "{username}",
		)),
	},
	{
		Name: "clear_permissions", Options: "vhost", About: "Removes the permissions of a user in a virtual host", Arguments: "<username>",
		Title: verb.Text(`Clearing permissions for user "{username}" in vhost "{vhost}" ...`),
		Run:   verb.InOrder(holder, verb.Deletes("permissions", "{vhost}", "{username}").IfMissing(nil)),
	},
	{
		Name: "list_permissions", About: "Lists the permissions in a virtual host", Options: "vhost no-table-headers", Title: verb.Text(`Listing permissions for vhost "{vhost}" ...`),
		Run: verb.Listed("vhosts", "{vhost}", "permissions").Table("user", "configure", "write", "read"),
	},
	{
		Name: "list_user_permissions", About: "Lists the permissions of a user", Arguments: "<username>", Options: "no-table-headers",
		Title: verb.Text(`Listing permissions for user "{username}" ...`),
		Run:   verb.Listed("users", "{username}", "permissions").Table("vhost", "configure", "write", "read").IfMissing(noSuchUser),
	},
	{
		Name: "set_topic_permissions", Options: "vhost", About: "Sets the topic permissions of a user: routing keys for a topic exchange", Arguments: "<username> <exchange> <write> <read>",
		Title: verb.Text(`Setting topic permissions on "{exchange}" for user "{username}" in vhost "{vhost}" ...`),
		Run: verb.InOrder(sound("\"", 2), holder, verb.Puts(
			verb.Fields(map[string]string{"exchange": "{exchange}", "write": "{write}", "read": "{read}"}), "topic-permissions", "{vhost}", "{username}",
		)),
	},
	{
		Name: "clear_topic_permissions", Options: "vhost", About: "Removes topic permissions of a user in a virtual host", Arguments: "<username> [<exchange>]",
		Title: verb.OneOrTwo(
			`Clearing topic permissions for user "{username}" in vhost "{vhost}" ...`,
			`Clearing topic permissions on "{exchange}" for user "{username}" in vhost "{vhost}" ...`,
		),
		Run: verb.InOrder(holder, verb.Action(clearTopic).IfMissing(nil)),
	},
	{
		Name: "list_topic_permissions", About: "Lists the topic permissions in a virtual host", Options: "vhost no-table-headers", Title: verb.Text(`Listing topic permissions for vhost "{vhost}" ...`),
		Run: verb.Listed("vhosts", "{vhost}", "topic-permissions").Table("user", "exchange", "write", "read"),
	},
	{
		Name: "list_user_topic_permissions", About: "Lists the topic permissions of a user", Arguments: "<username>", Options: "no-table-headers",
		Title: verb.Text(`Listing topic permissions for user "{username}" ...`),
		Run: verb.InOrder(
			withoutHeaders,
			verb.Listed("users", "{username}", "topic-permissions").Table("vhost", "exchange", "write", "read").IfMissing(noSuchUser),
		),
	},
}

// sound checks the arguments from one on as regular expressions before the broker does, as rabbitmqctl does. quote is
// the mark that it puts around an invalid one.
func sound(quote string, from int) verb.Action {
	return func(_ context.Context, _ *client.Client, c *verb.Call) error {
		for _, source := range c.Arguments[from:] {
			_, err := pattern.Compile(source)
			if invalid := (*pattern.Error)(nil); errors.As(err, &invalid) {
				return verb.Complaint(fmt.Sprintf("{:invalid_regexp, %s%s%s, {'%s', %d}}", quote, source, quote, invalid.Message, invalid.At))
			}
		}
		return nil
	}
}

// holder checks that the user and the virtual host of a verb about permissions exist.
func holder(ctx context.Context, broker *client.Client, c *verb.Call) error {
	if _, err := knownUser(ctx, broker, c.Arguments[0], "User %s does not exist"); err != nil {
		return err
	}
	_, err := broker.Get(ctx, "vhosts", c.VHost)
	if verb.IsMissing(err) {
		return verb.Complaint("Virtual host " + c.VHost + " does not exist")
	}
	return err
}

var noSuchUser = verb.Fail(verb.ExitNoUser, `{:no_such_user, "{username}"}`)

func withoutHeaders(_ context.Context, _ *client.Client, c *verb.Call) error {
	c.Headers = false
	return nil
}

func clearTopic(ctx context.Context, broker *client.Client, c *verb.Call) error {
	path := []string{"topic-permissions", c.VHost, c.Arguments[0]}
	if len(c.Arguments) > 1 {
		path = append(path, cmp.Or(c.Arguments[1], "amq.default"))
	}
	return broker.Delete(ctx, path...)
}
