package auth

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/text/erlang"
)

// Limits are maximum numbers of objects, by their RabbitMQ names. A negative number is stored, and means no limit.
// Objects above a limit when it is set stay; only new ones are refused. Limits in Users are immutable.
type Limits map[string]int64

// The names of limits. Virtual hosts have the first two, users the first and the
// last.
const (
	MaxConnections = "max-connections"
	MaxQueues      = "max-queues"
	MaxChannels    = "max-channels"
)

// Of returns the limit with a name; false if there is none.
func (l Limits) Of(name string) (limit int64, limited bool) {
	limit, limited = l[name]
	return limit, limited && limit >= 0
}

// Reached reports whether count has reached the limit with a name, and returns that limit.
func (l Limits) Reached(name string, count int) (limit int64, reached bool) {
	limit, limited := l.Of(name)
	return limit, limited && int64(count) >= limit
}

// ParseVHostLimits reads the limits of a virtual host, a JSON object. The error has RabbitMQ's text.
func ParseVHostLimits(raw []byte) (Limits, error) {
	limits, complaints := parseLimits(raw, "limits", MaxConnections, MaxQueues)
	if complaints != nil {
		return nil, errors.New("Validation failed\n\n" + strings.Join(complaints, "\n") + "\n")
	}
	return limits, nil
}

// ParseUserLimits is ParseVHostLimits for the limits of a user.
func ParseUserLimits(raw []byte) (Limits, error) {
	limits, complaints := parseLimits(raw, "user-limits", MaxConnections, MaxChannels)
	if complaints != nil {
		return nil, errors.New(strings.Join(complaints, "\n"))
	}
	return limits, nil
}

func parseLimits(raw []byte, what string, known ...string) (limits Limits, complaints []string) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return nil, []string{what + " not a list " + string(raw)}
	}
	limits = Limits{}
	var strange []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		n, err := strconv.ParseInt(string(given[name]), 10, 64)
		switch {
		case !slices.Contains(known, name):
			strange = append(strange, "{"+erlang.Binary(name)+","+term(given[name])+"}")
		case err != nil:
			complaints = append(complaints, name+" should be a number, actually was "+term(given[name]))
		default:
			limits[name] = n
		}
	}
	if strange != nil {
		complaints = append(complaints, "Unrecognised terms ["+strings.Join(strange, ",\n                    ")+"] in "+what)
	}
	return limits, complaints
}

// term returns a JSON value as Erlang prints it, if it is a text or a number.
func term(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
		return erlang.Binary(text)
	}
	return string(raw)
}

// SetVHostLimits replaces the limits of a virtual host by the result of f, which gets a copy of them. Errors:
// ErrNoVHost, or a description of invalid limits.
func (u *Users) SetVHostLimits(name string, f func(Limits) Limits) error {
	return u.change(func(next *snapshot, c *Change) error {
		v, known := next.vhosts[name]
		if !known {
			return ErrNoVHost
		}
		before := v.Limits
		var err error
		if v.Limits, err = before.changed(f(before.copied()), ParseVHostLimits); err != nil || maps.Equal(before, v.Limits) {
			return err
		}
		next.vhosts = maps.Clone(next.vhosts)
		next.vhosts[name] = v
		c.Put = append(c.Put, v)
		return nil
	})
}

// SetUserLimits replaces the limits of a user by the result of f, which gets a copy of them. Errors: ErrNoUser, or a
// description of invalid limits.
func (u *Users) SetUserLimits(name string, f func(Limits) Limits) error {
	return u.change(func(next *snapshot, c *Change) error {
		known := next.users[name]
		if known == nil {
			return ErrNoUser
		}
		after, before := *known, known.account.Limits
		var err error
		if after.account.Limits, err = before.changed(f(before.copied()), ParseUserLimits); err != nil || maps.Equal(before, after.account.Limits) {
			return err
		}
		next.put(&after)
		c.Put = append(c.Put, after.account)
		return nil
	})
}

func (l Limits) copied() Limits {
	c := Limits{}
	maps.Copy(c, l)
	return c
}

// changed returns after, which replaces l: l itself if after is nil, nil if after is empty. The error is parse's.
func (l Limits) changed(after Limits, parse func([]byte) (Limits, error)) (Limits, error) {
	switch {
	case after == nil:
		return l, nil
	case len(after) == 0:
		return nil, nil
	}
	raw, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	_, err = parse(raw)
	return after, err
}
