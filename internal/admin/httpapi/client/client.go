package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"candlemark/internal/measure/events"
)

// maxAnswer is the maximum number of bytes read of an answer.
const maxAnswer = 256 << 20

// Client sends requests to one broker. It is safe for concurrent use.
type Client struct {
	base     url.URL // without user and trailing slash
	user     string
	password string
	http     http.Client
}

// AddressFrom returns the broker's address and user from an environment: CANDLEMARK_HTTP_URL, else this machine, in a
// container as the first user of its broker.
func AddressFrom(getenv func(string) string) string {
	first := func(what string) string {
		return cmp.Or(getenv("CANDLEMARK_DEFAULT_"+what), getenv("RABBITMQ_DEFAULT_"+what), "guest")
	}
	here := url.URL{Scheme: "http", Host: "127.0.0.1:15672", User: url.UserPassword(first("USER"), first("PASS"))}
	return cmp.Or(getenv("CANDLEMARK_HTTP_URL"), here.String())
}

// errAddress does not show the address: in a malformed address the password can be anywhere.
var errAddress = errors.New("the address of the HTTP API is not of the form http://user:password@host:port")

// New returns a client of the API at address, such as http://guest:guest@127.0.0.1:15672. User and password default to
// guest and guest. The error describes an invalid address.
func New(address string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errAddress
	}
	c := &Client{base: url.URL{Scheme: u.Scheme, Host: u.Host}, user: "guest", password: "guest"}
	if u.User != nil {
		c.user = u.User.Username()
		c.password, _ = u.User.Password()
	}
	return c, nil
}

// Address returns where the client connects, without the password.
func (c *Client) Address() string { return c.base.String() }

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is an answer that reports a failure. Other errors of a Client mean that there was no answer, or an unreadable
// one.
type Error struct {
	Status int    // of HTTP
	Code   string // "error" in the body: bad_request, not_authorised, …
	Reason string // "reason" in the body, for the user
	Body   string // all of it
}

// Error implements error.
func (e *Error) Error() string {
	if e.Reason == "" {
		return http.StatusText(e.Status)
	}
	return e.Reason
}

// question is a request.
type question struct {
	method string
	path   []string    // its parts, which are escaped
	query  url.Values  // nil for none
	header http.Header // besides what every request has, nil for none
	body   any         // sent as JSON, nil for none
}

// do sends a request with body as JSON, nil for none, and reads the answer into result, or nil if there is none. The
// parts of the path are escaped.
func (c *Client) do(ctx context.Context, method string, body, result any, path ...string) error {
	return c.ask(ctx, question{method: method, path: path, body: body}, result)
}

// ask sends a request and reads the answer into result, or nil if there is none.
func (c *Client) ask(ctx context.Context, q question, result any) error {
	answer, err := c.answer(ctx, q)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("unexpected answer: %w", err)
	}
	return nil
}

// Send sends any request, with body as JSON, nil for none, and returns the answer unchanged.
func (c *Client) Send(ctx context.Context, method string, body any, query url.Values, path ...string) ([]byte, error) {
	return c.answer(ctx, question{method: method, path: path, query: query, body: body})
}

func (c *Client) answer(ctx context.Context, q question) ([]byte, error) {
	var content io.Reader
	if q.body != nil {
		encoded, err := json.Marshal(q.body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	address := c.base.String() + "/api"
	for _, part := range q.path {
		address += "/" + url.PathEscape(part)
	}
	if q.query != nil {
		address += "?" + q.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, q.method, address, content)
	if err != nil {
		return nil, err
	}
	for name, values := range q.header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", events.CommandLineAgent)
	request.SetBasicAuth(c.user, c.password)
	if q.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err == nil && response.StatusCode >= 300 {
		return nil, failure(response.StatusCode, answer)
	}
	return answer, err
}

func failure(status int, answer []byte) *Error {
	var body struct {
		Error  string          `json:"error"`
		Reason json.RawMessage `json:"reason"`
	}
	_ = json.Unmarshal(answer, &body) // proxies answer in other forms: then there is only the status
	e := &Error{Status: status, Code: body.Error, Body: string(answer)}
	if json.Unmarshal(body.Reason, &e.Reason) != nil {
		e.Reason = string(body.Reason) // a list, or nothing
	}
	return e
}
