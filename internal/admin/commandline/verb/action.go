package verb

import (
	"context"

	"candlemark/internal/admin/httpapi/client"
)

// Action does what a verb is for.
type Action func(ctx context.Context, broker *client.Client, c *Call) error

// InOrder does one after the other until one fails.
func InOrder(all ...Action) Action {
	return func(ctx context.Context, broker *client.Client, c *Call) error {
		for _, one := range all {
			if err := one(ctx, broker, c); err != nil {
				return err
			}
		}
		return nil
	}
}

// Says writes a text with {names} in it.
func Says(template string) Action {
	return func(_ context.Context, _ *client.Client, c *Call) error {
		c.Say("%s", c.Expand(template))
		return nil
	}
}

// Puts sends texts to a path.
func Puts(body func(*Call) map[string]string, path ...string) Action {
	return func(ctx context.Context, broker *client.Client, c *Call) error {
		return broker.Put(ctx, body(c), c.Path(path)...)
	}
}

// Fields returns a body in which each text may have {names} in it.
func Fields(templates map[string]string) func(*Call) map[string]string {
	return func(c *Call) map[string]string {
		body := map[string]string{}
		for key, template := range templates {
			body[key] = c.Expand(template)
		}
		return body
	}
}

// Posts asks for what a path is for.
func Posts(path ...string) Action {
	return func(ctx context.Context, broker *client.Client, c *Call) error {
		return broker.Post(ctx, c.Path(path)...)
	}
}

// Deletes removes the object of a path.
func Deletes(path ...string) Action {
	return func(ctx context.Context, broker *client.Client, c *Call) error {
		return broker.Delete(ctx, c.Path(path)...)
	}
}

// IfMissing replaces the error for a missing object by one with {names} in its text; nil for no error.
func (a Action) IfMissing(otherwise *Exit) Action {
	return func(ctx context.Context, broker *client.Client, c *Call) error {
		err := a(ctx, broker, c)
		switch {
		case !IsMissing(err):
			return err
		case otherwise == nil:
			return nil
		}
		return Fail(otherwise.Code, c.Expand(otherwise.text))
	}
}

// Rows gets what a list shows.
type Rows func(ctx context.Context, broker *client.Client, c *Call) ([]client.Object, error)

// Listed returns the objects of a path.
func Listed(path ...string) Rows {
	return func(ctx context.Context, broker *client.Client, c *Call) ([]client.Object, error) {
		return broker.List(ctx, c.Path(path)...)
	}
}

// With has fill add to each row what has another name over HTTP.
func (r Rows) With(fill func(o client.Object)) Rows {
	return func(ctx context.Context, broker *client.Client, c *Call) ([]client.Object, error) {
		list, err := r(ctx, broker, c)
		for _, o := range list {
			fill(o)
		}
		return list, err
	}
}

// Table shows the rows in the chosen columns of the verb, or else in the columns named here.
func (r Rows) Table(columns ...string) Action {
	return func(ctx context.Context, broker *client.Client, c *Call) error {
		list, err := r(ctx, broker, c)
		if err != nil {
			return err
		}
		if columns == nil {
			return c.PrintTable(c.chosen, list)
		}
		return c.PrintTable(columns, list)
	}
}
