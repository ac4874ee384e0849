package client

import (
	"context"
	"encoding/json"
	"net/url"
)

// Export returns the definitions at a path as they are sent.
func (c *Client) Export(ctx context.Context, path ...string) ([]byte, error) {
	var text json.RawMessage
	err := c.do(ctx, "GET", nil, &text, path...)
	return text, err
}

// Import sends definitions, a JSON document, and returns the report that the query asks for.
func (c *Client) Import(ctx context.Context, document []byte, query url.Values, path ...string) ([]byte, error) {
	var report json.RawMessage
	err := c.ask(ctx, question{method: "POST", path: path, query: query, body: json.RawMessage(document)}, &report)
	return report, err
}
