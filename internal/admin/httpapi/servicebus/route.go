package servicebus

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"candlemark/internal/admin/atom"
	"candlemark/internal/admin/entityadmin"
	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

// lists of entities.
const (
	allQueues = "$resources/queues"
	allTopics = "$resources/topics"
	namespace = "$namespaceinfo"
)

// route carries a request out.
func (r *request) route(path string) (answer, error) {
	switch strings.ToLower(path) {
	case allQueues:
		return r.list(entity.Queue, "", "Queues")
	case allTopics:
		return r.list(entity.Topic, "", "Topics")
	case namespace:
		return entry(http.StatusOK, atom.Namespace(r.base, namespaceOf(r.Host), r.premium, r.now)), nil
	}
	topic, rest, in := cutFold(path, "/"+entity.Subscriptions)
	subscription, rule, inRules := cutFold(strings.TrimPrefix(rest, "/"), "/"+entity.Rules)
	rule = strings.TrimPrefix(rule, "/")
	switch {
	case !in || topic == "":
		return r.entity(entity.Queue, "", path)
	case rest == "":
		return r.list(entity.Subscription, topic, "Subscriptions")
	case !inRules:
		return r.entity(entity.Subscription, topic, subscription)
	case rule == "":
		return r.rules(topic, subscription)
	}
	return r.rule(topic, subscription, rule)
}

// cutFold cuts at a part of a path, without regard to case. Found only if the part ends there.
func cutFold(path, at string) (before, after string, found bool) {
	i := strings.Index(strings.ToLower(path)+"/", strings.ToLower(at)+"/")
	if i < 0 {
		return path, "", false
	}
	return path[:i], path[i+len(at):], true
}

// namespaceOf returns the name of the namespace: the first label of the host's name, or an address as it is.
func namespaceOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	name, _, _ := strings.Cut(host, ".")
	return name
}

func entry(status int, body []byte) answer { return answer{status, atom.ContentType, body} }

// nothing returns the answer to a question for what does not exist.
func (r *request) nothing() answer {
	return answer{http.StatusOK, atom.FeedType, atom.Feed(&atom.List{Title: "Publicly Listed Services", Base: r.base, At: r.now, Self: r.base})}
}

func (r *request) list(kind entity.Kind, topic, title string) (answer, error) {
	if r.Method != http.MethodGet {
		return answer{}, errBadRequest
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	all, err := r.List(r.Context(), kind, topic, p.skip, p.top+1)
	return listed(r, p, title, all, func(l *atom.List, page []entityadmin.Entity) { l.Entities = page }), err
}

// entity carries out a request for an entity. At paths of queues there may be topics.
func (r *request) entity(kind entity.Kind, topic, name string) (answer, error) {
	there, err := r.Get(r.Context(), kind, topic, name)
	if kind == entity.Queue && errors.Is(err, entityadmin.ErrNotFound) {
		there, err = r.Get(r.Context(), entity.Topic, "", name)
	}
	if err != nil && !errors.Is(err, entityadmin.ErrNotFound) {
		return answer{}, err
	}
	if there != nil { // perhaps by another name than was asked for
		if err := r.MayConfigure(&there.Description); err != nil {
			return answer{}, err
		}
	}
	switch r.Method {
	case http.MethodGet:
		if there == nil {
			return r.nothing(), nil
		}
		return entry(http.StatusOK, atom.Entry(r.base, there)), nil
	case http.MethodDelete:
		if there == nil {
			return answer{}, entityadmin.ErrNotFound
		}
		return answer{status: http.StatusOK}, r.Delete(r.Context(), there.Kind, there.Topic, there.Name)
	case http.MethodPut:
		return r.put(kind, topic, name, there)
	}
	return answer{}, errBadRequest
}

func (r *request) put(kind entity.Kind, topic, name string, there *entityadmin.Entity) (answer, error) {
	if kind == entity.Queue && atom.IsTopic(r.body) {
		kind = entity.Topic
	}
	update := r.Header.Get("If-Match") != ""
	var before *entity.Description
	switch {
	case update && (there == nil || there.Kind != kind):
		return answer{}, entityadmin.ErrNotFound
	case !update && there != nil:
		return answer{}, entityadmin.ErrExists
	case update:
		before = &there.Description
	}
	d, rules, err := atom.ReadEntity(r.body, entity.New(kind, topic, name), before)
	if err != nil {
		return answer{}, errors.Join(errBadRequest, err)
	}
	keys, err := atom.ReadKeys(r.body, kind)
	if err != nil {
		return answer{}, errors.Join(errBadRequest, err)
	}
	if err := r.CheckKeys(&d, keys); err != nil {
		return answer{}, err
	}
	status := http.StatusCreated
	if update {
		status, err = http.StatusOK, r.Update(r.Context(), d)
	} else {
		err = r.Create(r.Context(), d, rules...)
	}
	if err != nil {
		return answer{}, err
	}
	made, err := r.Get(r.Context(), kind, topic, name)
	if err == nil {
		err = r.SetKeys(r.Context(), &made.Description, keys)
	}
	if err == nil {
		made, err = r.Get(r.Context(), kind, topic, name)
	}
	if err != nil {
		return answer{}, err
	}
	return entry(status, atom.Entry(r.base, made)), nil
}

func (r *request) rules(topic, subscription string) (answer, error) {
	if r.Method != http.MethodGet {
		return answer{}, errBadRequest
	}
	p, err := r.page()
	if err != nil {
		return answer{}, err
	}
	rules, err := r.Rules(r.Context(), topic, subscription, p.skip, p.top+1)
	return listed(r, p, "Rules", rules, func(l *atom.List, page []filter.Rule) {
		l.Subscription, l.Rules = entity.SubscriptionQueue(topic, subscription), page
	}), err
}

func (r *request) rule(topic, subscription, name string) (answer, error) {
	switch r.Method {
	case http.MethodGet:
		rule, err := r.Rule(r.Context(), topic, subscription, name)
		if errors.Is(err, entityadmin.ErrNotFound) {
			return r.nothing(), nil
		}
		return r.ruleEntry(http.StatusOK, topic, subscription, &rule), err
	case http.MethodDelete:
		return answer{status: http.StatusOK}, r.DeleteRule(r.Context(), topic, subscription, name)
	case http.MethodPut:
	default:
		return answer{}, errBadRequest
	}
	rule, err := atom.ReadRule(r.body, name)
	if err != nil {
		return answer{}, errors.Join(errBadRequest, err)
	}
	if r.Header.Get("If-Match") != "" {
		return r.ruleEntry(http.StatusOK, topic, subscription, &rule), r.UpdateRule(r.Context(), topic, subscription, rule)
	}
	return r.ruleEntry(http.StatusCreated, topic, subscription, &rule), r.CreateRule(r.Context(), topic, subscription, rule)
}

func (r *request) ruleEntry(status int, topic, subscription string, rule *filter.Rule) answer {
	return entry(status, atom.RuleEntry(r.base, entity.SubscriptionQueue(topic, subscription), rule))
}
