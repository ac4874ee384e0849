package commandline

import (
	"context"
	"errors"
	"net/http"

	"candlemark/internal/httpapi/client"
)

// action does what a verb is for.
type action func(ctx context.Context, broker *client.Client, c *call) error

// inOrder does one after the other until one fails.
func inOrder(all ...action) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		for _, one := range all {
			if err := one(ctx, broker, c); err != nil {
				return err
			}
		}
		return nil
	}
}

// says writes a text with {names} in it.
func says(template string) action {
	return func(_ context.Context, _ *client.Client, c *call) error {
		c.say("%s", c.expand(template))
		return nil
	}
}

// puts sends texts to a path.
func puts(body func(*call) map[string]string, path ...string) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		return broker.Put(ctx, body(c), c.path(path)...)
	}
}

// fields are a body in which each text may have {names} in it.
func fields(templates map[string]string) func(*call) map[string]string {
	return func(c *call) map[string]string {
		body := map[string]string{}
		for key, template := range templates {
			body[key] = c.expand(template)
		}
		return body
	}
}

// posts asks for what a path is for.
func posts(path ...string) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		return broker.Post(ctx, c.path(path)...)
	}
}

// deletes removes the object of a path.
func deletes(path ...string) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		return broker.Delete(ctx, c.path(path)...)
	}
}

// ifMissing has an error of its own, with {names} in its text, for what is not there; nil for none.
func (a action) ifMissing(otherwise *exit) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		err := a(ctx, broker, c)
		switch {
		case !isMissing(err):
			return err
		case otherwise == nil:
			return nil
		}
		return &exit{otherwise.code, c.expand(otherwise.text)}
	}
}

// isMissing tells whether the API knows nothing of what was asked for.
func isMissing(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// rows gets what a list shows.
type rows func(ctx context.Context, broker *client.Client, c *call) ([]client.Object, error)

// listed are the objects of a path.
func listed(path ...string) rows {
	return func(ctx context.Context, broker *client.Client, c *call) ([]client.Object, error) {
		return broker.List(ctx, c.path(path)...)
	}
}

// with has fill add to each row what has another name over HTTP.
func (r rows) with(fill func(o client.Object)) rows {
	return func(ctx context.Context, broker *client.Client, c *call) ([]client.Object, error) {
		list, err := r(ctx, broker, c)
		for _, o := range list {
			fill(o)
		}
		return list, err
	}
}

// table shows the rows in the columns of the verb that were chosen, or else in those that are named here.
func (r rows) table(columns ...string) action {
	return func(ctx context.Context, broker *client.Client, c *call) error {
		list, err := r(ctx, broker, c)
		if err != nil {
			return err
		}
		if columns == nil {
			return c.printTable(c.chosen, list)
		}
		return c.printTable(columns, list)
	}
}
