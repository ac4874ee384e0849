package admin

import (
	"net/http"
	"strconv"
	"strings"
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

// certificatesLast checks the certificates of the listeners, of which those
// that are listed here have none.
func (a *api) certificatesLast(r *request) {
	if _, err := strconv.Atoi(r.part("within")); err != nil {
		fail(r.w, http.StatusBadRequest, "bad_request", "Invalid expiration value.")
		return
	}
	switch strings.ToLower(r.part("unit")) {
	case "days", "weeks", "months", "years":
		healthy(r)
	default:
		fail(r.w, http.StatusBadRequest, "bad_request", "Time unit not recognised. Supported units: days, weeks, months, years.")
	}
}
