package client

import "context"

// Put creates or changes the object at a path, such as "users", "app".
func (c *Client) Put(ctx context.Context, body any, path ...string) error {
	return c.do(ctx, "PUT", body, nil, path...)
}

// Delete deletes the object at a path; an *Error with status 404 means that there is none.
func (c *Client) Delete(ctx context.Context, path ...string) error {
	return c.do(ctx, "DELETE", nil, nil, path...)
}

// As returns a client of the same broker for another user; close it too.
func (c *Client) As(user, password string) *Client {
	return &Client{base: c.base, user: user, password: password}
}

// Post sends a POST to a path.
func (c *Client) Post(ctx context.Context, path ...string) error {
	return c.do(ctx, "POST", nil, nil, path...)
}
