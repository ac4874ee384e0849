package commandline

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"candlemark/internal/httpapi/client"
)

var userVerbs = []verb{
	{
		name: "add_user", about: "Creates a user; the password is read from the input if it is not given", arguments: "<username> [<password>]", options: "pre-hashed-password",
		title: text(`Adding user "{username}" ...`), run: addUser,
	},
	{
		name: "delete_user", about: "Deletes a user and closes its connections", arguments: "<username>", title: text(`Deleting user "{username}" ...`),
		run: deletes("users", "{username}").ifMissing(nil), // as in RabbitMQ 4
	},
	{
		name: "change_password", about: "Gives a user another password", arguments: "<username> [<password>]",
		title: text(`Changing password for user "{username}" ...`), run: changePassword,
	},
	{
		name: "set_user_tags", about: "Replaces the tags of a user", arguments: "<username> <tag> [...]",
		title: text(`Setting tags for user "{username}" to [{tag}] ...`), run: setUserTags,
	},
	{
		name: "clear_password", arguments: "<username>", about: "Takes the password from a user, who cannot log in with one any more",
		title: text(`Clearing password for user "{username}" ...`), run: clearPassword,
	},
	{
		name: "hash_password", arguments: "<password>", about: "Makes the hash of a password, for --pre-hashed-password and definitions",
		title: text("Will hash password {password}"),
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			o, err := broker.Get(ctx, "auth", "hash_password", c.arguments[0])
			if err == nil {
				c.say("%s", cell(o["ok"]))
			}
			return err
		},
	},
	{
		name: "authenticate_user", about: "Tells whether a password is that of a user", arguments: "<username> [<password>]",
		title: text(`Authenticating user "{username}" ...`), run: inOrder(authenticate, says("Success")),
	},
	{
		name: "list_users", about: "Lists users and their tags", options: "no-table-headers", title: text("Listing users ..."),
		run: listed("users").with(func(o client.Object) { o["user"] = o["name"] }).table("user", "tags"),
	},
}

func clearPassword(ctx context.Context, broker *client.Client, c *call) error {
	user, err := knownUser(ctx, broker, c.arguments[0], "User \"%s\" does not exist")
	if err != nil {
		return err
	}
	return broker.Put(ctx, client.Object{"password_hash": "", "tags": user["tags"]}, "users", c.arguments[0])
}

// password is the second argument, or else a line of the input.
func (c *call) password(prompt string, code int) (string, error) {
	if len(c.arguments) > 1 {
		return c.arguments[1], nil
	}
	c.say("%s", prompt)
	line, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && line == "" {
		return "", &exit{code, "Password is not provided via argument or stdin"}
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// knownUser asks for a user, who must be there; complaint says that it is not.
func knownUser(ctx context.Context, broker *client.Client, name, complaint string) (client.Object, error) {
	user, err := broker.Get(ctx, "users", name)
	if isMissing(err) {
		return nil, &exit{ExitNoUser, fmt.Sprintf(complaint, name)}
	}
	return user, err
}

func addUser(ctx context.Context, broker *client.Client, c *call) error {
	name := c.arguments[0]
	if name == "" {
		return &exit{ExitData, "Bad argument: user cannot be an empty string"}
	}
	key, prompt := "password", "Password: "
	if c.preHashed {
		key, prompt = "password_hash", "Hashed and salted password: "
	}
	secret, err := c.password(prompt, ExitData)
	if err != nil {
		return err
	}
	if _, err := base64.StdEncoding.DecodeString(secret); err != nil && c.preHashed {
		return &exit{ExitData, "Could not Base64 decode provided password hash value"}
	}
	_, err = broker.Get(ctx, "users", name)
	switch {
	case err == nil:
		return &exit{ExitSoftware, fmt.Sprintf("User \"%s\" already exists", name)}
	case !isMissing(err):
		return err
	}
	if err := broker.Put(ctx, map[string]string{"tags": "", key: secret}, "users", name); err != nil || c.quiet || c.silent || c.json {
		return err
	}
	c.say("Done. Don't forget to grant the user permissions to some virtual hosts! See set_permissions in 'candlemark help'.")
	return nil
}

func changePassword(ctx context.Context, broker *client.Client, c *call) error {
	password, err := c.password("Password: ", ExitSoftware)
	if err != nil {
		return err
	}
	user, err := knownUser(ctx, broker, c.arguments[0], "User \"%s\" does not exist")
	if err != nil {
		return err
	}
	return broker.Put(ctx, map[string]any{"tags": user["tags"], "password": password}, "users", c.arguments[0])
}

func setUserTags(ctx context.Context, broker *client.Client, c *call) error {
	user, err := knownUser(ctx, broker, c.arguments[0], "User \"%s\" does not exist")
	if err != nil {
		return err
	}
	return broker.Put(ctx, map[string]any{
		"tags": c.arguments[1:], "password_hash": user["password_hash"], "hashing_algorithm": user["hashing_algorithm"],
	}, "users", c.arguments[0])
}

// authenticate logs in as the user. One who may not use the API, or not
// from here, has the right password all the same.
func authenticate(ctx context.Context, broker *client.Client, c *call) error {
	name := c.arguments[0]
	password, err := c.password("Password: ", ExitSoftware)
	if err != nil {
		return err
	}
	other := broker.As(name, password)
	defer other.Close()
	_, err = other.Get(ctx, "whoami")
	var refused *client.Error
	switch isRefusal := errors.As(err, &refused); {
	case isRefusal && refused.Code == "not_authorized":
		return &exit{ExitData, fmt.Sprintf("Error: failed to authenticate user \"%s\"\nuser '%s' - invalid credentials", name, name)}
	case err != nil && !(isRefusal && refused.Code == "not_authorised"):
		return err
	}
	return nil
}
