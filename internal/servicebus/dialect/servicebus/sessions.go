package servicebus

import "candlemark/protocol/amqp10"

// Conditions of errors about sessions.
const (
	SessionTaken amqp10.Symbol = "com.microsoft:session-cannot-be-locked"
	SessionLost  amqp10.Symbol = "com.microsoft:session-lock-lost"
	Timeout      amqp10.Symbol = "com.microsoft:timeout"
)

// Operations of entities' nodes about sessions.
const (
	RenewSession    = "com.microsoft:renew-session-lock"
	SessionState    = "com.microsoft:get-session-state"
	SetSessionState = "com.microsoft:set-session-state"
	ListSessions    = "com.microsoft:get-message-sessions"
)

// AllSessions is the time of the request with which clients list all sessions.
const AllSessions amqp10.Timestamp = 253402300800000

const (
	sessionFilter = "com.microsoft:session-filter"
	lockedUntil   = "com.microsoft:locked-until-utc"
	timeout       = "com.microsoft:timeout"
	// defaultWait is the default time in ms that a client waits for a session.
	defaultWait = 60_000
)

// SessionOf reads the filter of a link's source: the wanted session, next for any session, wanted is false without a
// filter. The error for another filter is amqp:not-implemented.
func SessionOf(filter amqp10.Map) (id string, next, wanted bool, err error) {
	if len(filter) == 0 {
		return "", false, false, nil
	}
	v, is := filter.Get(sessionFilter)
	if !is || len(filter) > 1 {
		return "", false, false, amqp10.Errorf(amqp10.NotImplemented, "filters other than the session filter are not supported")
	}
	if d, described := v.(amqp10.Described); described {
		v = d.Value
	}
	if v == nil {
		return "", true, true, nil
	}
	id, isText := v.(string)
	if !isText {
		return "", false, false, amqp10.Errorf(amqp10.InvalidField, "the session id must be a string")
	}
	return id, false, true, nil
}

// SessionFilter returns the client's filter with the session that it got.
func SessionFilter(given amqp10.Map, id string) amqp10.Map {
	v, _ := given.Get(sessionFilter)
	if d, described := v.(amqp10.Described); described {
		v = amqp10.Described{Descriptor: d.Descriptor, Value: id}
	} else {
		v = id
	}
	return amqp10.Map{{Key: amqp10.Symbol(sessionFilter), Value: v}}
}

// WaitOf returns the time in ms that a link waits for a session, from its properties.
func WaitOf(properties amqp10.Map) int64 {
	v, _ := properties.Get(timeout)
	if ms, is := v.(uint32); is {
		return int64(ms)
	}
	return defaultWait
}

// LockedUntil returns the properties of a link that has locked a session until that time, in wall ms: in ticks of 100
// ns since the year 1.
func LockedUntil(ms int64) amqp10.Map {
	return amqp10.Map{{Key: amqp10.Symbol(lockedUntil), Value: ms*10_000 + 621_355_968_000_000_000}}
}
