package commandline

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"

	"candlemark/internal/httpapi/client"
)

// userOptions are those of the verbs about users and virtual hosts.
type userOptions struct {
	preHashed                       bool
	description, tags, defaultQueue string
	user                            string
}

func (o *userOptions) define(flags *flag.FlagSet) {
	flags.BoolVar(&o.preHashed, "pre-hashed-password", false, "")
	flags.StringVar(&o.description, "description", "", "")
	flags.StringVar(&o.tags, "tags", "", "")
	flags.StringVar(&o.user, "user", "guest", "")
	flags.StringVar(&o.defaultQueue, "default-queue-type", "", "")
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

// isMissing tells whether the API knows nothing of what was asked for.
func isMissing(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// knownUser asks for a user, who must be there; complaint says that it is not.
func knownUser(ctx context.Context, broker *client.Client, name, complaint string) (client.Object, error) {
	user, err := broker.Get(ctx, "users", name)
	if isMissing(err) {
		return nil, &exit{ExitNoUser, fmt.Sprintf(complaint, name)}
	}
	return user, err
}

var addUserVerb = verb{
	arguments: []string{"username"}, optional: []string{"password"}, options: []string{"pre-hashed-password"},
	banner: func(c *call) string { return fmt.Sprintf("Adding user \"%s\" ...", c.arguments[0]) },
	run:    addUser,
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

var deleteUserVerb = verb{
	arguments: []string{"username"},
	banner:    func(c *call) string { return fmt.Sprintf("Deleting user \"%s\" ...", c.arguments[0]) },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		return unlessMissing(broker.Delete(ctx, "users", c.arguments[0])) // as in RabbitMQ 4
	},
}

// unlessMissing is err, but for what is gone already.
func unlessMissing(err error) error {
	if isMissing(err) {
		return nil
	}
	return err
}

var changePasswordVerb = verb{
	arguments: []string{"username"}, optional: []string{"password"},
	banner: func(c *call) string { return fmt.Sprintf("Changing password for user \"%s\" ...", c.arguments[0]) },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		password, err := c.password("Password: ", ExitSoftware)
		if err != nil {
			return err
		}
		user, err := knownUser(ctx, broker, c.arguments[0], "User \"%s\" does not exist")
		if err != nil {
			return err
		}
		return broker.Put(ctx, map[string]any{"tags": user["tags"], "password": password}, "users", c.arguments[0])
	},
}

var setUserTagsVerb = verb{
	arguments: []string{"username"}, more: "tag",
	banner: func(c *call) string {
		return fmt.Sprintf("Setting tags for user \"%s\" to [%s] ...", c.arguments[0], strings.Join(c.arguments[1:], ", "))
	},
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		user, err := knownUser(ctx, broker, c.arguments[0], "User \"%s\" does not exist")
		if err != nil {
			return err
		}
		return broker.Put(ctx, map[string]any{
			"tags": c.arguments[1:], "password_hash": user["password_hash"], "hashing_algorithm": user["hashing_algorithm"],
		}, "users", c.arguments[0])
	},
}

// authenticateUserVerb logs in as the user. One who may not use the API, or not
// from here, has the right password all the same.
var authenticateUserVerb = verb{
	arguments: []string{"username"}, optional: []string{"password"},
	banner: func(c *call) string { return fmt.Sprintf("Authenticating user \"%s\" ...", c.arguments[0]) },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
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
		c.say("Success")
		return nil
	},
}

var listUsersVerb = verb{
	options: []string{"no-table-headers"},
	banner:  func(*call) string { return "Listing users ..." },
	run: func(ctx context.Context, broker *client.Client, c *call) error {
		list, err := broker.List(ctx, "users")
		if err != nil {
			return err
		}
		for _, o := range list {
			o["user"] = o["name"]
		}
		return c.printTable([]string{"user", "tags"}, list)
	},
}
