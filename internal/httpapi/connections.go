package httpapi

import "net/http"

// connectionItem is the JSON form of a connection. What belongs to TLS is null
// without it.
type connectionItem struct {
	Mechanism    string  `json:"auth_mechanism"`
	ChannelMax   int     `json:"channel_max"`
	Channels     int     `json:"channels"`
	Properties   object  `json:"client_properties"`
	ConnectedAt  int64   `json:"connected_at"`
	FrameMax     int     `json:"frame_max"`
	Host         string  `json:"host"`
	Name         string  `json:"name"`
	Node         string  `json:"node"`
	CertIssuer   *string `json:"peer_cert_issuer"`
	CertSubject  *string `json:"peer_cert_subject"`
	CertValidity *string `json:"peer_cert_validity"`
	PeerHost     string  `json:"peer_host"`
	PeerPort     int     `json:"peer_port"`
	Port         int     `json:"port"`
	Protocol     string  `json:"protocol"`
	Reads        uint64  `json:"recv_cnt"`
	BytesIn      uint64  `json:"recv_oct"`
	BytesInRate  rate    `json:"recv_oct_details"`
	Writes       uint64  `json:"send_cnt"`
	BytesOut     uint64  `json:"send_oct"`
	BytesOutRate rate    `json:"send_oct_details"`
	Pending      int     `json:"send_pend"`
	TLS          bool    `json:"ssl"`
	Cipher       *string `json:"ssl_cipher"`
	Hash         *string `json:"ssl_hash"`
	KeyExchange  *string `json:"ssl_key_exchange"`
	TLSProtocol  *string `json:"ssl_protocol"`
	State        string  `json:"state"`
	Timeout      int     `json:"timeout"`
	Type         string  `json:"type"`
	User         string  `json:"user"`
	GivenName    *string `json:"user_provided_name,omitempty"`
	Doer         string  `json:"user_who_performed_action"`
	VHost        string  `json:"vhost"`
}

// connectionLink is how other objects name a connection.
type connectionLink struct {
	Name     string `json:"name"`
	PeerHost string `json:"peer_host"`
	PeerPort int    `json:"peer_port"`
}

func (a *api) connectionItem(c *Connection) connectionItem {
	f := a.rates.of("connection "+c.Name, float64(c.BytesIn), float64(c.BytesOut))
	item := connectionItem{
		Mechanism: c.Mechanism, ChannelMax: c.ChannelMax, Channels: c.Channels, Properties: object(c.ClientProperties),
		ConnectedAt: c.ConnectedAt, FrameMax: c.FrameMax, Host: c.Host, Name: c.Name, Node: a.node,
		PeerHost: c.PeerHost, PeerPort: c.PeerPort, Port: c.Port, Protocol: c.Protocol,
		Reads: c.Reads, BytesIn: c.BytesIn, BytesInRate: f[0], Writes: c.Writes, BytesOut: c.BytesOut, BytesOutRate: f[1],
		State: c.State, Timeout: c.Heartbeat, Type: "network", User: c.User, Doer: c.User, VHost: c.VHost,
	}
	if s := c.TLS; s != nil {
		item.TLS, item.TLSProtocol, item.KeyExchange, item.Cipher, item.Hash = true, &s.Protocol, &s.KeyExchange, &s.Cipher, &s.Hash
		item.CertSubject, item.CertIssuer, item.CertValidity = orNull(s.Subject), orNull(s.Issuer), orNull(s.Validity)
	}
	if v, _ := c.ClientProperties.Get("connection_name"); v != nil {
		if name, ok := v.(string); ok {
			item.GivenName = &name
		}
	}
	return item
}

// monitors tells whether the user may see what others have.
func monitors(r *request) bool { return r.user.HasTag("administrator") || r.user.HasTag("monitoring") }

// owns tells whether the user may see what belongs to a connection.
func owns(r *request, c *Connection) bool {
	return monitors(r) || c != nil && c.User == r.user.Name
}

// connections lists those of the path's virtual host, or of all. Who is no
// monitor sees its own.
func (a *api) connections(r *request) {
	if r.vhost != "" && !a.exists(r) {
		return
	}
	all, err := a.broker.Connections(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	items := make([]connectionItem, 0, len(all))
	for i := range all {
		c := &all[i]
		if (r.vhost == "" || c.VHost == r.vhost) && owns(r, c) {
			items = append(items, a.connectionItem(c))
		}
	}
	list(r, items, func(c *connectionItem) string { return c.Name })
}

// withConnection finds the connection of the path for a user who may see it, or
// end it; else it has answered.
func (a *api) withConnection(r *request, end bool, do func(*Connection)) {
	all, err := a.broker.Connections(r.Context())
	if err != nil {
		a.refuse(r, err)
		return
	}
	for i := range all {
		if c := &all[i]; c.Name == r.name {
			if allowed := r.user.HasTag("administrator") || !end && monitors(r); !allowed && c.User != r.user.Name {
				fail(r.w, http.StatusUnauthorized, "not_authorised", "User not authorised to access object")
				return
			}
			do(c)
			return
		}
	}
	notFound(r.w, r.Request)
}

func (a *api) connection(r *request) {
	a.withConnection(r, false, func(c *Connection) { one(r, a.connectionItem(c)) })
}

// closeConnection has the client told 320 CONNECTION_FORCED with the reason that
// the header X-Reason gives.
func (a *api) closeConnection(r *request) {
	a.withConnection(r, true, func(c *Connection) {
		reason := r.Header.Get("X-Reason")
		if reason == "" {
			reason = "Closed via management plugin"
		}
		found, err := a.broker.CloseConnection(r.Context(), c.Name, reason)
		switch {
		case err != nil:
			a.refuse(r, err)
		case !found:
			notFound(r.w, r.Request)
		default:
			r.w.WriteHeader(http.StatusNoContent)
		}
	})
}

func (a *api) connectionChannels(r *request) {
	a.withConnection(r, false, func(c *Connection) {
		a.listChannels(r, func(ch *Channel) bool { return ch.Connection.Name == c.Name })
	})
}
