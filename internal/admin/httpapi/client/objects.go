package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Object is a JSON object of the API: values as package encoding/json decodes them, numbers as json.Number.
type Object map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*map[string]any)(o))
}

// List returns the objects at a path, such as "queues", "/".
func (c *Client) List(ctx context.Context, path ...string) ([]Object, error) {
	var list []Object
	err := c.do(ctx, "GET", nil, &list, path...)
	return list, err
}

// Get returns the object at a path.
func (c *Client) Get(ctx context.Context, path ...string) (Object, error) {
	var o Object
	err := c.do(ctx, "GET", nil, &o, path...)
	return o, err
}

// DeleteQueue deletes a queue; an *Error with status 400 says that a condition
// was not met.
func (c *Client) DeleteQueue(ctx context.Context, vhost, name string, ifEmpty, ifUnused bool) error {
	query := url.Values{}
	if ifEmpty {
		query.Set("if-empty", "true")
	}
	if ifUnused {
		query.Set("if-unused", "true")
	}
	return c.ask(ctx, question{method: "DELETE", path: []string{"queues", vhost, name}, query: query}, nil)
}

// CloseConnection closes the connection of a client, which gets the reason.
func (c *Client) CloseConnection(ctx context.Context, name, reason string) error {
	return c.ask(ctx, question{method: "DELETE", path: []string{"connections", name}, header: http.Header{"X-Reason": {reason}}}, nil)
}

// StartBackup begins a backup in a folder of the broker's machine; the result is the status that Get returns.
func (c *Client) StartBackup(ctx context.Context, folder string) (o Object, err error) {
	err = c.do(ctx, "POST", map[string]string{"path": folder}, &o, "x", "backup")
	return o, err
}

// Shutdown stops the broker, and waits until requests fail.
func (c *Client) Shutdown(ctx context.Context) error {
	err := c.do(ctx, http.MethodPost, nil, nil, "x", "shutdown")
	for err == nil {
		var answered *Error
		if _, gone := c.Get(ctx, "overview"); gone != nil && !errors.As(gone, &answered) {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	return err
}

// pollEvery is the interval of the checks of Shutdown.
const pollEvery = 200 * time.Millisecond
