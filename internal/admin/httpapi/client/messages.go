package client

import (
	"context"
	"net/url"
	"strconv"
)

// maxPage is how many items the API lists at most at a time.
const maxPage = 1000

// Listing is a list of messages: its path, such as "x", "queues", "/", "orders", "messages", the name of the list in
// the answer, and further query parameters.
type Listing struct {
	Path  []string
	Items string
	Query map[string]string
}

// Pages returns the first limit items of a list, page by page; items added or removed between two pages may or may not
// be among them.
func (c *Client) Pages(ctx context.Context, l Listing, limit int) ([]Object, error) {
	list, query := []Object{}, url.Values{}
	for name, value := range l.Query {
		query.Set(name, value)
	}
	for {
		query.Set("limit", strconv.Itoa(min(limit-len(list), maxPage)))
		var page Object
		if err := c.ask(ctx, question{method: "GET", path: l.Path, query: query}, &page); err != nil {
			return nil, err
		}
		items, _ := page[l.Items].([]any)
		for _, item := range items {
			o, _ := item.(map[string]any)
			list = append(list, o)
		}
		next, more := page["next"].(string)
		if !more || len(list) >= limit {
			return list, nil
		}
		query.Set("after", next)
	}
}

// Change sends a request that changes something, and returns the answer.
func (c *Client) Change(ctx context.Context, method string, query map[string]string, body any, path ...string) (Object, error) {
	values := url.Values{}
	for name, value := range query {
		values.Set(name, value)
	}
	var o Object
	err := c.ask(ctx, question{method: method, path: path, query: values, body: body}, &o)
	return o, err
}
