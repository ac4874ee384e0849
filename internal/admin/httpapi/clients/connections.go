package clients

import (
	"cmp"
	"net/http"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// connectionItem is the JSON form of a connection. The fields about TLS are null without it.
type connectionItem struct {
	Mechanism    string       `json:"auth_mechanism"`
	ChannelMax   int          `json:"channel_max"`
	Channels     int          `json:"channels"`
	Properties   forms.Object `json:"client_properties"`
	ConnectedAt  int64        `json:"connected_at"`
	ContainerID  *string      `json:"container_id,omitempty"` // of AMQP 1.0
	FrameMax     int          `json:"frame_max"`
	Host         string       `json:"host"`
	Memory       int64        `json:"memory"`
	Name         string       `json:"name"`
	Node         string       `json:"node"`
	CertIssuer   *string      `json:"peer_cert_issuer"`
	CertSerial   *string      `json:"peer_cert_serial_number"`
	CertSubject  *string      `json:"peer_cert_subject"`
	CertValidity *string      `json:"peer_cert_validity"`
	PeerHost     string       `json:"peer_host"`
	PeerPort     int          `json:"peer_port"`
	Port         int          `json:"port"`
	Protocol     string       `json:"protocol"`
	Reads        uint64       `json:"recv_cnt"`
	BytesIn      uint64       `json:"recv_oct"`
	BytesInRate  forms.Rate   `json:"recv_oct_details"`
	Writes       uint64       `json:"send_cnt"`
	BytesOut     uint64       `json:"send_oct"`
	BytesOutRate forms.Rate   `json:"send_oct_details"`
	Pending      int          `json:"send_pend"`
	TLS          bool         `json:"ssl"`
	Cipher       *string      `json:"ssl_cipher"`
	Hash         *string      `json:"ssl_hash"`
	KeyExchange  *string      `json:"ssl_key_exchange"`
	TLSProtocol  *string      `json:"ssl_protocol"`
	State        string       `json:"state"`
	Timeout      int          `json:"timeout"`
	Type         string       `json:"type"`
	User         string       `json:"user"`
	GivenName    *string      `json:"user_provided_name,omitempty"`
	Doer         string       `json:"user_who_performed_action"`
	VHost        string       `json:"vhost"`
}

func connectionForm(r *rest.Request, c *management.Connection) connectionItem {
	f := r.Rates.Data("connection "+c.Name, float64(c.BytesIn), float64(c.BytesOut))
	item := connectionItem{
		Mechanism: c.Mechanism, ChannelMax: c.ChannelMax, Channels: c.Channels, Properties: forms.Object(c.ClientProperties),
		ConnectedAt: c.ConnectedAt, FrameMax: c.FrameMax, Host: c.Host, Memory: c.Memory, Name: c.Name, Node: r.Node,
		PeerHost: c.PeerHost, PeerPort: c.PeerPort, Port: c.Port, Protocol: c.Protocol,
		Reads: c.Reads, BytesIn: c.BytesIn, BytesInRate: f[0], Writes: c.Writes, BytesOut: c.BytesOut, BytesOutRate: f[1],
		State: c.State, Timeout: c.Heartbeat, Type: "network", User: c.User, Doer: c.User, VHost: c.VHost,
	}
	if s := c.TLS; s != nil {
		item.TLS, item.TLSProtocol, item.KeyExchange, item.Cipher, item.Hash = true, &s.Protocol, &s.KeyExchange, &s.Cipher, &s.Hash
		item.CertSubject, item.CertIssuer, item.CertValidity, item.CertSerial = forms.OrNull(s.Subject), forms.OrNull(s.Issuer), forms.OrNull(s.Validity), forms.OrNull(s.Serial)
	}
	if v, _ := c.ClientProperties.Get("connection_name"); v != nil {
		if name, ok := v.(string); ok {
			item.GivenName = &name
			if c.Protocol == "AMQP 1-0" {
				item.ContainerID = &name
			}
		}
	}
	return item
}

// connections lists the connections of the path's virtual host, or of all. Users without the tag monitoring see only
// their own.
func connections(r *rest.Request) (any, error) {
	return listConnections(r, func(c *management.Connection) bool { return (r.VHost == "" || c.VHost == r.VHost) && r.Owns(c) })
}

// connectionPart is /username/{user}, /{name}/channels or /{name}/sessions. For http.ServeMux neither is more special
// than the other, so it cannot distinguish them: a connection that is called username has no channels here.
func connectionPart(r *rest.Request) (any, error) {
	switch {
	case r.Name == "username":
		return byUser(userConnections)(r)
	case r.Part("part") == "channels":
		return connectionChannels(r)
	case r.Part("part") == "sessions":
		return sessions(r)
	}
	return nil, rest.ErrNotFound
}

// byUser handles requests about all connections of a user. It admits the user itself and administrators; monitors may
// only read.
func byUser(handle func(r *rest.Request, user string) (any, error)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		user := r.Part("part")
		switch {
		case r.Name != "username":
			return nil, rest.ErrNotFound
		case user != r.User.Name && !r.User.HasTag("administrator") && (r.Method == http.MethodDelete || !r.Monitors()):
			return nil, rest.ErrNotAuthorised
		}
		return handle(r, user)
	}
}

// userConnections lists the connections of a user.
func userConnections(r *rest.Request, user string) (any, error) {
	return listConnections(r, func(c *management.Connection) bool { return c.User == user })
}

// closeUserConnections is closeConnection for all connections of a user, if any.
func closeUserConnections(r *rest.Request, user string) (any, error) {
	return nil, r.Broker.CloseConnectionsOf(r.Context(), user, reasonOf(r))
}

// reasonOf a disconnection, for the client.
func reasonOf(r *rest.Request) string {
	return cmp.Or(r.Header.Get("X-Reason"), "Closed via management plugin")
}

func listConnections(r *rest.Request, visible func(*management.Connection) bool) (any, error) {
	all, err := r.Broker.Connections(r.Context(), "")
	return rest.ListForms(r, all, err, visible, func(c *management.Connection) connectionItem { return connectionForm(r, c) }, func(c *management.Connection) string { return c.Name })
}

// findConnection finds the connection of the path for a user who may see it.
func findConnection(r *rest.Request) (*management.Connection, error) {
	all, err := r.Broker.Connections(r.Context(), r.Name)
	c, err := rest.Find(all, err, func(c *management.Connection) bool { return c.Name == r.Name })
	if err == nil && !r.Owns(c) {
		err = rest.ErrNotAuthorised
	}
	return c, err
}

func connection(r *rest.Request) (any, error) {
	c, err := findConnection(r)
	if err != nil {
		return nil, err
	}
	return rest.One(r, connectionForm(r, c)), nil
}

// closeConnection closes a connection with 320 CONNECTION_FORCED and the reason of the header X-Reason. Monitors see
// connections of others but cannot close them.
func closeConnection(r *rest.Request) (any, error) {
	c, err := findConnection(r)
	if err == nil && c.User != r.User.Name && !r.User.HasTag("administrator") {
		err = rest.ErrNotAuthorised
	}
	if err != nil {
		return nil, err
	}
	found, err := r.Broker.CloseConnection(r.Context(), c.Name, reasonOf(r))
	if err == nil && !found {
		err = rest.ErrNotFound
	}
	return nil, err
}

func connectionChannels(r *rest.Request) (any, error) {
	c, err := findConnection(r)
	if err != nil {
		return nil, err
	}
	return listChannels(r, c.Name, func(*management.Channel) bool { return true })
}
