package schedules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/internal/storage/parameters"
)

// Routes are the routes of schedules.
var Routes = []rest.Route{
	rest.Get("/api/x/schedules", rest.Anybody, all.List).Large(),
	rest.Get("/api/x/schedules/{vhost}", rest.InVHost(rest.Visitor), all.List).Large(),
	rest.Post("/api/x/schedules/{vhost}/preview", rest.InVHost(rest.Visitor), does(preview)),
	rest.Get("/api/x/schedules/{vhost}/{name}", rest.InVHost(rest.Visitor), does(get)),
	rest.Put("/api/x/schedules/{vhost}/{name}", rest.InVHost(rest.Visitor), does(set)),
	rest.Delete("/api/x/schedules/{vhost}/{name}", rest.InVHost(rest.Visitor), does(remove)),
	rest.Get("/api/x/schedules/{vhost}/{name}/next", rest.InVHost(rest.Visitor), does(next)),
	rest.Post("/api/x/schedules/{vhost}/{name}/pause", rest.InVHost(rest.Visitor), does(pause)),
	rest.Post("/api/x/schedules/{vhost}/{name}/resume", rest.InVHost(rest.Visitor), does(resume)),
	rest.Post("/api/x/schedules/{vhost}/{name}/trigger", rest.InVHost(rest.Visitor), does(trigger)),
	rest.Post("/api/x/schedules/{vhost}/{name}/backfill", rest.InVHost(rest.Visitor), does(backfill)),
	rest.Delete("/api/x/schedules/{vhost}/{name}/backfill", rest.InVHost(rest.Visitor), does(cancelBackfill)),
}

// Broker is the part of the broker for schedules.
type Broker interface {
	management.Schedules
	management.Host
}

// all are the schedules that the user may see, with their messages if the user may read them.
var all = rest.Resource[item]{
	Items: func(r *rest.Request) ([]item, error) {
		list, err := r.Broker.ListSchedules(r.Context(), r.VHost, "")
		query := r.URL.Query()
		state, queue := query.Get("state"), query.Get("queue")
		return rest.Forms(list, func(s *management.Schedule) bool {
			return r.Sees(s.VHost) && (state == "" || s.State == state) && (queue == "" || s.Spec != nil && s.Spec.ToQueue && s.Spec.Key == queue)
		}, func(s *management.Schedule) item {
			return form(s, r.Monitors() || reads(r.Users, r.User, s.VHost, s.Name))
		}), err
	},
	Name: func(i *item) string { return i.Name },
}

func reads(p auth.Permissions, u auth.User, vhost, name string) bool {
	return p.Check(u, vhost, auth.Resource{Kind: auth.Queue, Name: name}, auth.Configure) == nil
}

// request is a request about one schedule, over HTTP or AMQP.
type request struct {
	context.Context
	broker      Broker
	permissions auth.Permissions // nil over AMQP
	user        auth.User
	vhost, name string
	fields      map[string]json.RawMessage
}

// fields that requests have besides the keys of a schedule.
func (r *request) text(key string) string {
	var s string
	if json.Unmarshal(r.fields[key], &s) != nil {
		s = string(r.fields[key])
	}
	return s
}

// does executes an operation on the schedule of the path, with the parameters from the query or the body.
func does(f func(*request) (any, error)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		q := &request{Context: r.Context(), broker: r.Broker, permissions: r.Users, user: r.User, vhost: r.VHost, name: r.Name, fields: map[string]json.RawMessage{}}
		if r.Method == "PUT" || r.Method == "POST" {
			raw, err := r.Raw()
			if err != nil {
				return nil, err
			}
			if raw = bytes.TrimSpace(raw); len(raw) > 0 && json.Unmarshal(raw, &q.fields) != nil {
				return nil, rest.Complaint("not_json")
			}
		}
		for key, values := range r.URL.Query() {
			if len(values) > 1 {
				return nil, rest.Complaintf("the parameter %s is given more than once", key)
			}
			q.fields[key], _ = json.Marshal(values[0]) // a text
		}
		v, err := f(q)
		return v, declined(err)
	}
}

// commands by their AMQP routing keys.
var commands = map[string]func(*request) (any, error){
	"schedule.set": set, "schedule.get": get, "schedule.list": list, "schedule.next": next, "schedule.pause": pause, "schedule.resume": resume,
	"schedule.trigger": trigger, "schedule.delete": remove, "schedule.preview": preview,
	"schedule.backfill": backfill, "schedule.cancel-backfill": cancelBackfill,
}

// Command executes a command about schedules that came over AMQP with a routing key: its body has the name, and the parameters as over
// HTTP. The result writes the reply as JSON.
func Command(ctx context.Context, b Broker, u auth.User, vhost, key string, body []byte) func() []byte {
	q := &request{Context: ctx, broker: b, user: u, vhost: vhost, fields: map[string]json.RawMessage{}}
	f := commands[key]
	if f == nil {
		return rest.ForAMQP(nil, rest.Nonexistent("unknown command '"+key+"'"))
	}
	if body = bytes.TrimSpace(body); len(body) > 0 && json.Unmarshal(body, &q.fields) != nil {
		return rest.ForAMQP(nil, rest.Complaint("not_json"))
	}
	if q.name = q.text("name"); q.name == "" && key != "schedule.list" && key != "schedule.preview" {
		return rest.ForAMQP(nil, rest.Complaint("[{key_missing,name}]"))
	}
	v, err := f(q)
	return rest.ForAMQP(v, declined(err))
}

// declined returns the answer for a refused request.
func declined(err error) error {
	if errors.As(err, new(parameters.Refusal)) {
		return rest.Complaint(err.Error())
	}
	if code, text := rest.ProtocolError(err); code != 0 {
		if _, explanation, found := strings.Cut(text, " - "); found {
			text = explanation
		}
		return rest.Unauthorised(text)
	}
	return err
}

// value returns the value of the schedule in the request.
func (r *request) value() (json.RawMessage, error) {
	for _, shown := range []string{"name", "vhost", "status", "created"} {
		delete(r.fields, shown)
	}
	return json.Marshal(r.fields)
}

// only checks that a request has no parameters but its name and these.
func (r *request) only(keys ...string) error {
	for _, key := range slices.Sorted(maps.Keys(r.fields)) {
		if key != "name" && !slices.Contains(keys, key) {
			return rest.Complaintf("unknown key '%s'", key)
		}
	}
	return nil
}

func set(r *request) (any, error) {
	value, err := r.value()
	if err != nil {
		return nil, err
	}
	created, err := r.broker.SetSchedule(r, r.user, r.vhost, r.name, value)
	if err != nil {
		return nil, err
	}
	s, err := r.find()
	if err != nil {
		return nil, err
	}
	return map[string]any{"created": created, "warnings": r.warnings(s.Spec, s)}, nil
}

// warnings tells what will keep a schedule from publishing.
func (r *request) warnings(spec *parameters.ScheduleSpec, s *management.Schedule) []string {
	list := []string{}
	if spec == nil {
		return list
	}
	if !r.broker.ScheduleTarget(spec) {
		list = append(list, "there is no "+spec.Target()+" yet")
	}
	if _, _, ok := spec.Times.Next(r.broker.Clock().Wall()); !ok {
		list = append(list, "the schedule has no time in the future")
	}
	if s != nil && spec.Paused {
		list = append(list, "the schedule is paused")
	}
	return list
}

// find returns the schedule of the request.
func (r *request) find() (*management.Schedule, error) {
	all, err := r.broker.ListSchedules(r, r.vhost, r.name)
	if err == nil && len(all) == 0 {
		err = rest.Nonexistent("no schedule '" + r.name + "' in vhost '" + r.vhost + "'")
	}
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

// mayRead reports whether the user may read the message of a schedule.
func (r *request) mayRead(name string) bool {
	return r.user.HasTag("administrator") || r.user.HasTag("monitoring") || r.permissions != nil && reads(r.permissions, r.user, r.vhost, name)
}

func get(r *request) (any, error) {
	s, err := r.find()
	if err != nil {
		return nil, err
	}
	return form(s, r.mayRead(s.Name)), nil
}

func list(r *request) (any, error) {
	all, err := r.broker.ListSchedules(r, r.vhost, "")
	return rest.Forms(all, rest.All, func(s *management.Schedule) item { return form(s, r.mayRead(s.Name)) }), err
}

func remove(r *request) (any, error) {
	return nil, r.found(r.broker.DeleteSchedule(r, r.user, r.vhost, r.name))
}

func (r *request) found(found bool, err error) error {
	if err == nil && !found {
		_, err = r.find()
	}
	return err
}

func pause(r *request) (any, error) {
	if err := r.only("note"); err != nil {
		return nil, err
	}
	note := r.text("note")
	if len(note) > parameters.MaxNote {
		return nil, rest.Complaintf("note has more than %d bytes", parameters.MaxNote)
	}
	text, err := json.Marshal(note)
	if err != nil {
		return nil, err
	}
	return nil, r.change(func(fields map[string]json.RawMessage) {
		if fields["paused"], fields["note"] = json.RawMessage("true"), text; note == "" {
			delete(fields, "note")
		}
	})
}

func resume(r *request) (any, error) {
	if err := r.only(); err != nil {
		return nil, err
	}
	return nil, r.change(func(fields map[string]json.RawMessage) {
		delete(fields, "paused")
		delete(fields, "note")
	})
}

func (r *request) change(f func(fields map[string]json.RawMessage)) error {
	return r.found(r.broker.ChangeSchedule(r, r.user, r.vhost, r.name, f))
}

func trigger(r *request) (any, error) {
	if err := r.only("time"); err != nil {
		return nil, err
	}
	at, err := r.date("time")
	if err != nil {
		return nil, err
	}
	run, found, err := r.broker.TriggerSchedule(r, r.user, r.vhost, r.name, at)
	if err := r.found(found, err); err != nil {
		return nil, err
	}
	return ranForm(&run), nil
}

// date reads a date of the request: RFC 3339, or ms since 1970; 0 for none.
func (r *request) date(key string) (int64, error) {
	raw := r.fields[key]
	if raw == nil {
		return 0, nil
	}
	at, err := parameters.DateOf(raw)
	if err != nil {
		return 0, rest.Complaintf("%s: %v", key, err)
	}
	return at, nil
}

// times returns the next times that a request asks for.
func (r *request) times(spec *parameters.ScheduleSpec) ([]upcoming, error) {
	count := 10
	if text := r.text("count"); r.fields["count"] != nil && (json.Unmarshal([]byte(text), &count) != nil || count < 1 || count > MaxTimes) {
		return nil, rest.Complaintf("count is not in 1-%d", MaxTimes)
	}
	from, err := r.date("from")
	if err != nil {
		return nil, err
	}
	if from == 0 {
		from = r.broker.Clock().Wall()
	}
	return upcomingOf(spec, max(from-1, spec.Created), count), nil
}

func next(r *request) (any, error) {
	if err := r.only("count", "from"); err != nil {
		return nil, err
	}
	s, err := r.find()
	if err != nil {
		return nil, err
	}
	if s.Spec == nil {
		return nil, rest.Complaint("the schedule cannot be read")
	}
	times, err := r.times(s.Spec)
	return map[string]any{"next": times}, err
}

// preview shows what a schedule would do: its next times, its first message, and warnings.
func preview(r *request) (any, error) {
	name := r.text("name")
	if name == "" {
		name = "preview"
	}
	count, from := r.fields["preview_count"], r.fields["preview_from"]
	delete(r.fields, "preview_count")
	delete(r.fields, "preview_from")
	value, err := r.value()
	if err != nil {
		return nil, err
	}
	now := r.broker.Clock().Wall()
	if value, err = parameters.StampSchedule(value, nil, r.user.Name, now, 1); err != nil {
		return nil, rest.Complaint(err.Error())
	}
	spec, err := parameters.ParseSchedule(r.vhost, name, value)
	if err != nil {
		return nil, rest.Complaint(err.Error())
	}
	r.fields = map[string]json.RawMessage{}
	if count != nil {
		r.fields["count"] = count
	}
	if from != nil {
		r.fields["from"] = from
	}
	times, err := r.times(spec)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"next": times, "warnings": r.warnings(spec, nil)}
	if at, _, ok := spec.Times.Next(now); ok {
		first := spec.Expand(func(name string) string { return spec.TemplateValue(name, at, 1) })
		answer["message"] = map[string]any{
			"routing_key": first.Key, "exchange": first.Exchange, "body": string(first.Body), "message_id": spec.Name + "@" + parameters.RunDate(at, time.UTC),
		}
	}
	return answer, nil
}
