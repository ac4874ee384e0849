package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// health is the form of a check that went well.
type health struct {
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

func healthy(r *request) { answer(r.w, http.StatusOK, health{Status: "ok"}) }

// alive answers the check that RabbitMQ has made empty; the virtual host must
// exist.
func (a *api) alive(r *request) {
	if a.exists(r) {
		healthy(r)
	}
}

// notCritical: a broker of one node has no quorum to lose.
func (a *api) notCritical(r *request) {
	answer(r.w, http.StatusOK, health{"ok", "single node cluster"})
}

func (a *api) listenersNow(r *request) ([]Listener, bool) {
	o, err := a.broker.Overview(r.Context())
	if err != nil {
		a.refuse(r, err)
	}
	return o.Listeners, err == nil
}

// portListens checks that somebody listens at a port.
func (a *api) portListens(r *request) {
	port, err := strconv.Atoi(r.part("port"))
	if err != nil {
		fail(r.w, http.StatusBadRequest, "bad_request", "Invalid port")
		return
	}
	listeners, ok := a.listenersNow(r)
	if !ok {
		return
	}
	ports := make([]int, len(listeners))
	for i, l := range listeners {
		if ports[i] = l.Port; l.Port == port {
			answer(r.w, http.StatusOK, struct {
				Status string `json:"status"`
				Port   int    `json:"port"`
			}{"ok", port})
			return
		}
	}
	answer(r.w, http.StatusServiceUnavailable, struct {
		Status  string `json:"status"`
		Reason  string `json:"reason"`
		Missing int    `json:"missing"`
		Ports   []int  `json:"ports"`
	}{"failed", "No active listener", port, ports})
}

// protocolNames are other names for protocols.
var protocolNames = map[string]string{
	"amqp091": "amqp", "amqp0.9.1": "amqp", "amqp0-9-1": "amqp", "amqp0_9_1": "amqp",
	"amqps": "amqp/ssl", "amqp+tls": "amqp/ssl", "amqp+ssl": "amqp/ssl",
	"http1": "http", "http1.1": "http", "http_api": "http", "management": "http", "management_ui": "http", "ui": "http",
	"cli": "clustering", "distribution": "clustering",
}

// protocolListens checks that somebody speaks a protocol.
func (a *api) protocolListens(r *request) {
	wanted := strings.ToLower(r.part("protocol"))
	if name, ok := protocolNames[wanted]; ok {
		wanted = name
	}
	listeners, ok := a.listenersNow(r)
	if !ok {
		return
	}
	protocols := make([]string, len(listeners))
	for i, l := range listeners {
		if protocols[i] = l.Protocol; l.Protocol == wanted {
			answer(r.w, http.StatusOK, struct {
				Status   string `json:"status"`
				Protocol string `json:"protocol"`
			}{"ok", wanted})
			return
		}
	}
	answer(r.w, http.StatusServiceUnavailable, struct {
		Status    string   `json:"status"`
		Reason    string   `json:"reason"`
		Missing   string   `json:"missing"`
		Protocols []string `json:"protocols"`
	}{"failed", "No active listener", wanted, protocols})
}

// expiring is a listener whose certificate does not last.
type expiring struct {
	Node      string   `json:"node"`
	Protocol  string   `json:"protocol"`
	Interface string   `json:"interface"`
	Port      int      `json:"port"`
	Expires   []string `json:"certfile_expires_on"`
}

// units are those that the life of a certificate is asked in.
var units = map[string]time.Duration{
	"days": 24 * time.Hour, "weeks": 7 * 24 * time.Hour, "months": 30 * 24 * time.Hour, "years": 365 * 24 * time.Hour,
}

// certificatesLast checks that no listener's certificate expires within a time.
func (a *api) certificatesLast(r *request) {
	n, err := strconv.Atoi(r.part("within"))
	if err != nil {
		fail(r.w, http.StatusBadRequest, "bad_request", "Invalid expiration value.")
		return
	}
	unit, known := units[strings.ToLower(r.part("unit"))]
	if !known {
		fail(r.w, http.StatusBadRequest, "bad_request", "Time unit not recognised. Supported units: days, weeks, months, years.")
		return
	}
	listeners, ok := a.listenersNow(r)
	if !ok {
		return
	}
	var found []expiring
	for _, l := range listeners {
		if !l.Expires.IsZero() && time.Until(l.Expires)/unit < time.Duration(n) {
			found = append(found, expiring{a.node, l.Protocol, l.Address, l.Port, []string{l.Expires.UTC().Format("2006-01-02 15:04:05")}})
		}
	}
	if found == nil {
		healthy(r)
		return
	}
	answer(r.w, http.StatusServiceUnavailable, struct {
		Status  string     `json:"status"`
		Reason  string     `json:"reason"`
		Expired []expiring `json:"expired"`
	}{"failed", "Certificates expiring", found})
}
