package client

import "context"

// SetTracing switches the firehose of a virtual host. Everything else about it
// stays as it is; an *Error with status 404 says that there is none.
func (c *Client) SetTracing(ctx context.Context, vhost string, on bool) error {
	v, err := c.Get(ctx, "vhosts", vhost)
	if err != nil {
		return err
	}
	body := map[string]any{"description": v["description"], "tags": v["tags"], "tracing": on} // what a PUT leaves out is cleared
	return c.do(ctx, "PUT", body, nil, "vhosts", vhost)
}
