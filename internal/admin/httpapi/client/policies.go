package client

import (
	"context"
	"encoding/json"
)

// Policy is a policy or an operator policy (POL-13).
type Policy struct {
	VHost      string          `json:"vhost"`
	Name       string          `json:"name"`
	Pattern    string          `json:"pattern"`
	ApplyTo    string          `json:"apply-to"`
	Definition json.RawMessage `json:"definition"` // a JSON object
	Priority   json.Number     `json:"priority"`
}

// SetPolicy creates or replaces p (POL-12).
func (c *Client) SetPolicy(ctx context.Context, p Policy, operator bool) error {
	return c.do(ctx, "PUT", p, nil, store(operator), p.VHost, p.Name)
}

// ClearPolicy removes a policy. The error is an *Error with status 404 if there is none.
func (c *Client) ClearPolicy(ctx context.Context, vhost, name string, operator bool) error {
	return c.do(ctx, "DELETE", nil, nil, store(operator), vhost, name)
}

// ListPolicies returns the policies of one virtual host, by ascending priority.
func (c *Client) ListPolicies(ctx context.Context, vhost string, operator bool) ([]Policy, error) {
	var list []Policy
	err := c.do(ctx, "GET", nil, &list, store(operator), vhost)
	return list, err
}

// Preview asks what setting a Policy would do, or clearing it, for a body {"clear":true}.
func (c *Client) Preview(ctx context.Context, vhost, name string, body any, operator bool) (Object, error) {
	var o Object
	err := c.do(ctx, "POST", body, &o, "x", store(operator), vhost, name, "preview")
	return o, err
}

func store(operator bool) string {
	if operator {
		return "operator-policies"
	}
	return "policies"
}
