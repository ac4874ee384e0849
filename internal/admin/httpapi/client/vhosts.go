package client

import "context"

// SetTracing switches the firehose of a virtual host on or off, and changes nothing else. The error is an *Error with
// status 404 if there is no such virtual host.
func (c *Client) SetTracing(ctx context.Context, vhost string, on bool) error {
	v, err := c.Get(ctx, "vhosts", vhost)
	if err != nil {
		return err
	}
	body := map[string]any{"description": v["description"], "tags": v["tags"], "tracing": on} // what a PUT leaves out is cleared
	return c.do(ctx, "PUT", body, nil, "vhosts", vhost)
}
