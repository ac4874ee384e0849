package rabbitmqadmin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/admin/httpapi/client"
)

// actions are the subcommands.
var actions = map[string]func(s *session, ctx context.Context, args []string) error{
	"list": func(s *session, ctx context.Context, args []string) error {
		return s.list(ctx, "list", listable, args, func(answer []byte) []byte { return answer })
	},
	"show": func(s *session, ctx context.Context, args []string) error {
		return s.list(ctx, "show", showable, args, func(answer []byte) []byte { return slices.Concat([]byte{'['}, answer, []byte{']'}) })
	},
	"declare": func(s *session, ctx context.Context, args []string) error {
		return s.change(ctx, "PUT", "declared", declarable, args)
	},
	"delete": func(s *session, ctx context.Context, args []string) error {
		return s.change(ctx, "DELETE", "deleted", deletable, args)
	},
	"close": func(s *session, ctx context.Context, args []string) error {
		return s.change(ctx, "DELETE", "closed", closable, args)
	},
	"purge": func(s *session, ctx context.Context, args []string) error {
		return s.change(ctx, "DELETE", "purged", purgable, args)
	},
	"publish": (*session).publish, "get": (*session).get, "export": (*session).export, "import": (*session).load,
}

// say returns how it went, unless it is to be quiet.
func (s *session) say(format string, args ...any) {
	if !s.is("quiet") {
		fmt.Fprintf(s.Stdout, format+"\n", args...)
	}
}

// send asks the broker; errors have the text of the original.
func (s *session) send(ctx context.Context, method string, body any, query url.Values, path ...string) ([]byte, error) {
	answer, err := s.broker.Send(ctx, method, body, query, path...)
	at := s.settings["path_prefix"] + escaped(path)
	if len(query) > 0 {
		at += "?" + strings.ReplaceAll(query.Encode(), "%2C", ",")
	}
	var refused *client.Error
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, failure("Timed out getting HTTP response (request timeout: " + s.settings["request_timeout"] + " seconds)")
	case !errors.As(err, &refused):
		return nil, failure("Could not connect: " + err.Error())
	case refused.Status == http.StatusBadRequest:
		return nil, failure(refused.Error())
	case refused.Status == http.StatusUnauthorized:
		return nil, failure("Access refused: " + at)
	case refused.Status == http.StatusNotFound:
		return nil, failure("Not found: " + at)
	}
	return nil, failure(fmt.Sprintf("Received response %d %s for path %s\n%s", refused.Status, http.StatusText(refused.Status), at, refused.Body))
}

func escaped(path []string) string {
	text := "/api"
	for _, part := range path {
		text += "/" + url.PathEscape(part)
	}
	return text
}

// list prints a listing; asList makes a list of the answer.
func (s *session) list(ctx context.Context, action string, known []listing, args []string, asList func([]byte) []byte) error {
	if len(args) == 0 {
		return usage("Type not specified")
	}
	i := slices.IndexFunc(known, func(l listing) bool { return l.name == args[0] })
	if i < 0 {
		return usage(fmt.Sprintf("Don't know how to %s %s", action, args[0]))
	}
	l, columns := known[i], args[1:]
	if len(columns) == 0 && s.settings["depth"] == "1" && !strings.Contains(s.settings["format"], "json") {
		columns = strings.Fields(l.columns)
	}
	path, query := []string{strings.ReplaceAll(l.name, "_", "-")}, url.Values{}
	if l.byVHost && s.settings["vhost"] != "" {
		path = append(path, s.settings["vhost"])
	}
	if len(columns) > 0 {
		query.Set("columns", strings.Join(columns, ","))
	}
	if s.settings["sort"] != "" {
		query.Set("sort", s.settings["sort"])
	}
	if s.is("sort_reverse") {
		query.Set("sort_reverse", "true")
	}
	answer, err := s.send(ctx, http.MethodGet, nil, query, path...)
	if err != nil {
		return err
	}
	return s.show(asList(answer), columns, strings.Fields(l.json))
}

// show writes a list in the form that was asked for.
func (s *session) show(list json.RawMessage, columns, asJSON []string) error {
	switch s.settings["format"] {
	case rawJSON:
		fmt.Fprintln(s.Stdout, string(list))
		return nil
	case prettyJSON:
		text, err := pretty(list)
		fmt.Fprint(s.Stdout, text)
		return err
	}
	depth, err := strconv.Atoi(s.settings["depth"])
	if err != nil {
		return usage("the depth must be a number")
	}
	t, err := tableOf(list, columns, asJSON, depth)
	switch {
	case err != nil:
		return failure(err.Error())
	case len(t.rows) == 0:
		s.say("No items")
	default:
		forms[s.settings["format"]](s.Stdout, t, s.is("quiet"))
	}
	return nil
}

// change makes or ends something.
func (s *session) change(ctx context.Context, method, done string, known []kind, args []string) error {
	if len(args) == 0 {
		return usage("Type not specified")
	}
	i := slices.IndexFunc(known, func(k kind) bool { return k.name == args[0] })
	if i < 0 {
		return usage("Type " + args[0] + " not recognised")
	}
	k := &known[i]
	body, path, err := s.read(k, args[1:])
	if err != nil {
		return err
	}
	if kind := body["queue_type"]; kind != nil {
		arguments := map[string]any{}
		if raw, _ := body["arguments"].(json.RawMessage); json.Unmarshal(raw, &arguments) != nil {
			return failure("the arguments must be a JSON object")
		}
		arguments["x-queue-type"] = kind
		body["arguments"] = arguments
	}
	var content any
	if method == http.MethodPut {
		content = body
	}
	if content != nil && k.name == "binding" {
		method = http.MethodPost
	}
	if _, err = s.send(ctx, method, content, nil, path...); err == nil {
		s.say("%s %s", k.name, done)
	}
	return err
}
