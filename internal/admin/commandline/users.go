package commandline

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var userVerbs = []verb.Row{
	{
		Name: "add_user", About: "Creates a user; reads the password from standard input if not given", Arguments: "<username> [<password>]", Options: "pre-hashed-password",
		Title: verb.Text(`Adding user "{username}" ...`), Run: addUser,
	},
	{
		Name: "delete_user", About: "Deletes a user and closes its connections", Arguments: "<username>", Title: verb.Text(`Deleting user "{username}" ...`),
		Run: verb.Action(deleteUser).IfMissing(nil), // as in RabbitMQ 4
	},
	{
		Name: "change_password", About: "Changes the password of a user", Arguments: "<username> [<password>]",
		Title: verb.Text(`Changing password for user "{username}" ...`), Run: changePassword,
	},
	{
		Name: "set_user_tags", About: "Replaces the tags of a user", Arguments: "<username> <tag> [...]",
		Title: verb.Text(`Setting tags for user "{username}" to [{tag}] ...`), Run: setUserTags,
	},
	{
		Name: "clear_password", Arguments: "<username>", About: "Removes the password of a user, which disables logins with a password",
		Title: verb.Text(`Clearing password for user "{username}" ...`), Run: clearPassword,
	},
	{
		Name: "hash_password", Arguments: "<password>", About: "Hashes a password, for --pre-hashed-password and definitions",
		Title: verb.Text("Will hash password {password}"),
		Run: func(ctx context.Context, broker *client.Client, c *verb.Call) error {
			o, err := broker.Get(ctx, "auth", "hash_password", c.Arguments[0])
			if err == nil {
				c.Say("%s", verb.Cell(o["ok"]))
			}
			return err
		},
	},
	{
		Name: "authenticate_user", About: "Checks the password of a user", Arguments: "<username> [<password>]",
		Title: verb.Text(`Authenticating user "{username}" ...`), Run: verb.InOrder(authenticate, verb.Says("Success")),
	},
	{
		Name: "list_users", About: "Lists users and their tags", Options: "no-table-headers", Title: verb.Text("Listing users ..."),
		Run: verb.Listed("users").With(func(o client.Object) { o["user"] = o["name"] }).Table("user", "tags"),
	},
}

func clearPassword(ctx context.Context, broker *client.Client, c *verb.Call) error {
	user, err := knownUser(ctx, broker, c.Arguments[0], "User \"%s\" does not exist")
	if err != nil {
		return err
	}
	return broker.Put(ctx, client.Object{"password_hash": "", "tags": user["tags"]}, "users", c.Arguments[0])
}

// passwordOf returns the second argument, or else a line of the input.
func passwordOf(c *verb.Call, prompt string, code int) (string, error) {
	if len(c.Arguments) > 1 {
		return c.Arguments[1], nil
	}
	c.Say("%s", prompt)
	line, err := bufio.NewReader(c.In).ReadString('\n')
	if err != nil && line == "" {
		return "", verb.Fail(code, "Password is not provided via argument or stdin")
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// knownUser requests a user, which must exist; complaint is the error if it does not.
func knownUser(ctx context.Context, broker *client.Client, name, complaint string) (client.Object, error) {
	user, err := broker.Get(ctx, "users", name)
	if verb.IsMissing(err) {
		return nil, verb.Fail(verb.ExitNoUser, fmt.Sprintf(complaint, name))
	}
	return user, err
}

func addUser(ctx context.Context, broker *client.Client, c *verb.Call) error {
	name := c.Arguments[0]
	if name == "" {
		return verb.Fail(verb.ExitData, "Bad argument: user cannot be an empty string")
	}
	key, prompt := "password", "Password: "
	if c.PreHashed {
		key, prompt = "password_hash", "Hashed and salted password: "
	}
	secret, err := passwordOf(c, prompt, verb.ExitData)
	if err != nil {
		return err
	}
	if _, err := base64.StdEncoding.DecodeString(secret); err != nil && c.PreHashed {
		return verb.Fail(verb.ExitData, "Could not Base64 decode provided password hash value")
	}
	_, err = broker.Get(ctx, "users", name)
	switch {
	case err == nil:
		return verb.Fail(verb.ExitSoftware, fmt.Sprintf("User \"%s\" already exists", name))
	case !verb.IsMissing(err):
		return err
	}
	if err := broker.Put(ctx, map[string]string{"tags": "", key: secret}, "users", name); err != nil || c.Quiet || c.Silent || c.JSON {
		return err
	}
	c.Say("Done. Don't forget to grant the user permissions to some virtual hosts! See set_permissions in 'candlemark help'.")
	return nil
}

func changePassword(ctx context.Context, broker *client.Client, c *verb.Call) error {
	password, err := passwordOf(c, "Password: ", verb.ExitSoftware)
	if err != nil {
		return err
	}
	user, err := knownUser(ctx, broker, c.Arguments[0], "User \"%s\" does not exist")
	if err != nil {
		return err
	}
	return broker.Put(ctx, map[string]any{"tags": user["tags"], "password": password}, "users", c.Arguments[0])
}

func setUserTags(ctx context.Context, broker *client.Client, c *verb.Call) error {
	user, err := knownUser(ctx, broker, c.Arguments[0], "User \"%s\" does not exist")
	if err != nil {
		return err
	}
	err = broker.Put(ctx, map[string]any{
		"tags": c.Arguments[1:], "password_hash": user["password_hash"], "hashing_algorithm": user["hashing_algorithm"],
	}, "users", c.Arguments[0])
	if err != nil || c.Quiet || c.Silent || c.JSON {
		return err
	}
	for _, tag := range c.Arguments[1:] {
		if !slices.Contains(tagsWithRights, tag) {
			c.Say("Note: the tag %q gives no rights; these do: %s", tag, strings.Join(tagsWithRights, ", "))
		}
	}
	return nil
}

// tagsWithRights are the tags of users that mean something to the broker.
var tagsWithRights = []string{"administrator", "monitoring", "policymaker", "management", "impersonator"}

// authenticate logs in as the user. One who may not use the API, or not
// from here, has the right password all the same.
func authenticate(ctx context.Context, broker *client.Client, c *verb.Call) error {
	name := c.Arguments[0]
	password, err := passwordOf(c, "Password: ", verb.ExitSoftware)
	if err != nil {
		return err
	}
	other := broker.As(name, password)
	defer other.Close()
	_, err = other.Get(ctx, "whoami")
	var refused *client.Error
	switch isRefusal := errors.As(err, &refused); {
	case isRefusal && refused.Code == "not_authorized":
		return verb.Fail(verb.ExitData, fmt.Sprintf("Error: failed to authenticate user \"%s\"\nuser '%s' - invalid credentials", name, name))
	case err != nil && !(isRefusal && refused.Code == "not_authorised"):
		return err
	}
	return nil
}
