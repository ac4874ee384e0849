package node

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// health is the form of the result of a check.
type health struct {
	Status    string      `json:"status"`
	Reason    string      `json:"reason,omitempty"`
	Port      any         `json:"port,omitempty"`
	Missing   any         `json:"missing,omitempty"`
	Ports     []int       `json:"ports,omitempty"`
	Protocols []string    `json:"protocols,omitempty"`
	Expired   []expiring  `json:"expired,omitempty"`
	Alarms    []alarmItem `json:"alarms,omitempty"`
	Queues    any         `json:"queues,omitempty"`
	// Of connections.
	Limit       *int `json:"limit,omitempty"`
	Connections *int `json:"connections,omitempty"`
}

var healthy = health{Status: "ok"}

// unhealthy returns the answer of a failed check.
func unhealthy(h health) any {
	h.Status = "failed"
	return rest.Unavailable(h)
}

// alive reports whether the broker serves, without a login, and nothing else.
func alive(r *rest.Request) (any, error) {
	if !r.Broker.Service().Open {
		return unhealthy(health{}), nil
	}
	return healthy, nil
}

// inService checks that the broker serves.
func inService(r *rest.Request) (any, error) {
	if !r.Broker.Service().Open {
		return unhealthy(health{Reason: "this rabbit node is not currently available to serve"}), nil
	}
	return healthy, nil
}

const connectionLimit = "node connection limit is reached"

// readyToServe checks that a client that connects now is served.
func readyToServe(r *rest.Request) (any, error) {
	switch s := r.Broker.Service(); {
	case !s.Open:
		return unhealthy(health{Reason: "the rabbit node is not currently available to serve"}), nil
	case s.Connections >= s.Limit:
		return unhealthy(health{Reason: connectionLimit}), nil
	}
	return healthy, nil
}

// belowConnectionLimit checks that there may be more connections, and returns their number.
func belowConnectionLimit(r *rest.Request) (any, error) {
	s := r.Broker.Service()
	if s.Connections >= s.Limit {
		return unhealthy(health{Reason: connectionLimit, Limit: &s.Limit, Connections: &s.Connections}), nil
	}
	return health{Status: healthy.Status, Limit: &s.Limit, Connections: &s.Connections}, nil
}

// nodeHealth is the oldest check, which others have replaced.
func nodeHealth(r *rest.Request) (any, error) {
	m, err := r.Broker.Machine(r.Context())
	if err != nil {
		return nil, err
	}
	var alarms []string
	if m.DiskAlarm {
		alarms = append(alarms, "disk")
	}
	if m.MemoryAlarm {
		alarms = append(alarms, "memory")
	}
	if alarms == nil {
		return healthy, nil
	}
	return unhealthy(health{Reason: "resource alarm(s) in effect:[" + strings.Join(alarms, ",") + "]"}), nil
}

// withoutLeader is a queue that does not answer.
type withoutLeader struct {
	Readable string `json:"readable_name"`
	Name     string `json:"name"`
	VHost    string `json:"virtual_host"`
	Type     string `json:"type"`
}

// quorumQueuesServe checks that the quorum queues answer whose names match the expression of the path, or all without
// an expression.
func quorumQueuesServe(r *rest.Request) (any, error) {
	matches, err := rest.NameFilter("", r.Part("pattern"))
	if err != nil {
		return nil, rest.Invalid(err)
	}
	queues, err := r.Broker.Queues(r.Context(), r.VHost)
	down := rest.Forms(queues, func(q *management.Queue) bool {
		return q.Type == "quorum" && q.State == "down" && r.Sees(q.VHost) && matches.MatchString(q.Name)
	}, func(q *management.Queue) withoutLeader {
		return withoutLeader{fmt.Sprintf("queue '%s' in vhost '%s'", q.Name, q.VHost), q.Name, q.VHost, "rabbit_quorum_queue"}
	})
	if len(down) == 0 {
		return healthy, err
	}
	return unhealthy(health{Reason: "Detected quorum queues without an elected leader", Queues: down}), err
}

const noListener = "No active listener"

// portListens checks that the broker listens on a port.
func portListens(r *rest.Request) (any, error) {
	port, err := strconv.Atoi(r.Part("port"))
	if err != nil {
		return nil, rest.Complaint("Invalid port")
	}
	o, err := r.Broker.Overview(r.Context())
	ports := rest.Forms(o.Listeners, rest.All, func(l *management.Listener) int { return l.Port })
	if slices.Contains(ports, port) {
		return health{Status: "ok", Port: port}, err
	}
	return unhealthy(health{Reason: noListener, Missing: port, Ports: ports}), err
}

// protocolNames are other names for protocols.
var protocolNames = map[string]string{
	"amqp091": "amqp", "amqp0.9.1": "amqp", "amqp0-9-1": "amqp", "amqp0_9_1": "amqp",
	"amqps": "amqp/ssl", "amqp+tls": "amqp/ssl", "amqp+ssl": "amqp/ssl",
	"http1": "http", "http1.1": "http", "http_api": "http", "management": "http", "management_ui": "http", "ui": "http",
	"cli": "clustering", "distribution": "clustering",
}

// protocolListens checks that the broker listens for a protocol.
func protocolListens(r *rest.Request) (any, error) {
	wanted := strings.ToLower(r.Part("protocol"))
	wanted = cmp.Or(protocolNames[wanted], wanted)
	o, err := r.Broker.Overview(r.Context())
	protocols := rest.Forms(o.Listeners, rest.All, func(l *management.Listener) string { return l.Protocol })
	slices.Sort(protocols)
	protocols = slices.Compact(protocols)
	if slices.Contains(protocols, wanted) {
		return health{Status: "ok", Protocols: protocols}, err
	}
	return unhealthy(health{Reason: noListener, Missing: []string{wanted}, Protocols: protocols}), err
}

// expiring is a listener whose certificate expires too soon.
type expiring struct {
	Node      string   `json:"node"`
	Protocol  string   `json:"protocol"`
	Interface string   `json:"interface"`
	Port      int      `json:"port"`
	Expires   []string `json:"certfile_expires_on"`
}

// units are the units of time for the validity of a certificate.
var units = map[string]time.Duration{
	"days": 24 * time.Hour, "weeks": 7 * 24 * time.Hour, "months": 30 * 24 * time.Hour, "years": 365 * 24 * time.Hour,
}

// certificatesLast checks that no listener's certificate expires within a time.
func certificatesLast(r *rest.Request) (any, error) {
	n, err := strconv.Atoi(r.Part("within"))
	if err != nil {
		return nil, rest.Complaint("Invalid expiration value.")
	}
	unit, known := units[strings.ToLower(r.Part("unit"))]
	if !known {
		return nil, rest.Complaint("Time unit not recognised. Supported units: days, weeks, months, years.")
	}
	o, err := r.Broker.Overview(r.Context())
	found := rest.Forms(o.Listeners, func(l *management.Listener) bool {
		return !l.Expires.IsZero() && time.Until(l.Expires)/unit < time.Duration(n)
	}, func(l *management.Listener) expiring {
		return expiring{r.Node, l.Protocol, l.Address, l.Port, []string{l.Expires.UTC().Format("2006-01-02 15:04:05")}}
	})
	if len(found) == 0 {
		return healthy, err
	}
	return unhealthy(health{Reason: "Certificates expiring", Expired: found}), err
}
