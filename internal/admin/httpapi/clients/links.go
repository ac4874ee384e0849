package clients

import (
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// sessionItem is the JSON form of a session of AMQP 1.0, as RabbitMQ 4.1 has it, as far as the broker knows it.
type sessionItem struct {
	Number         int            `json:"channel_number"`
	HandleMax      uint32         `json:"handle_max"`
	NextIncoming   uint32         `json:"next_incoming_id"`
	Incoming       uint32         `json:"incoming_window"`
	NextOutgoing   uint32         `json:"next_outgoing_id"`
	RemoteIncoming uint32         `json:"remote_incoming_window"`
	Unsettled      int            `json:"outgoing_unsettled_deliveries"`
	From           []incomingLink `json:"incoming_links"`
	To             []outgoingLink `json:"outgoing_links"`
}

// incomingLink is a link that the client sends on.
type incomingLink struct {
	Handle      uint32 `json:"handle"`
	Name        string `json:"link_name"`
	Target      string `json:"target_address"`
	Count       uint32 `json:"delivery_count"`
	Credit      uint32 `json:"credit"`
	Unconfirmed int    `json:"unconfirmed_messages"`
}

// outgoingLink is a link that the client receives on.
type outgoingLink struct {
	Handle    uint32 `json:"handle"`
	Name      string `json:"link_name"`
	Source    string `json:"source_address"`
	Queue     string `json:"queue_name"`
	Settled   bool   `json:"send_settled"`
	Count     uint32 `json:"delivery_count"`
	Credit    uint32 `json:"credit"`
	Unsettled int    `json:"unsettled_messages"`
}

// sessions lists the sessions of the connection of the path; an AMQP 0-9-1 connection has none.
func sessions(r *rest.Request) (any, error) {
	c, err := findConnection(r)
	if err != nil {
		return nil, err
	}
	all, err := r.Broker.Channels(r.Context(), c.Name)
	items := []sessionItem{}
	for i := range all {
		if all[i].Session != nil {
			items = append(items, sessionForm(&all[i]))
		}
	}
	return items, err
}

func sessionForm(c *management.Channel) sessionItem {
	s := c.Session
	item := sessionItem{
		Number: c.Number, HandleMax: s.HandleMax, NextIncoming: s.NextIncomingID, Incoming: s.IncomingWindow, NextOutgoing: s.NextOutgoingID,
		RemoteIncoming: s.RemoteIncomingWindow, Unsettled: c.Unacked, From: []incomingLink{}, To: []outgoingLink{},
	}
	for _, l := range s.Links {
		if l.Receiver {
			item.To = append(item.To, outgoingLink{l.Handle, l.Name, l.Address, l.Queue, l.Settled, l.DeliveryCount, l.Credit, l.Unsettled})
		} else {
			item.From = append(item.From, incomingLink{l.Handle, l.Name, l.Address, l.DeliveryCount, l.Credit, l.Unsettled})
		}
	}
	return item
}

// linkItem is the JSON form of a link in the list of all.
type linkItem struct {
	Name       string  `json:"name"`
	Connection string  `json:"connection"`
	Session    int     `json:"session"`
	Handle     uint32  `json:"handle"`
	Role       string  `json:"role"` // of the client
	Address    string  `json:"address"`
	Queue      *string `json:"queue"`
	Count      uint32  `json:"delivery_count"`
	Credit     uint32  `json:"credit"`
	Unsettled  int     `json:"unsettled"`
	User       string  `json:"user"`
	VHost      string  `json:"vhost"`
}

// links lists the links of all sessions that the user may see.
func links(r *rest.Request) (any, error) {
	all, err := r.Broker.Channels(r.Context(), "")
	items := []linkItem{}
	for i := range all {
		if c := &all[i]; c.Session != nil && r.OwnsChannel(c) {
			for _, l := range c.Session.Links {
				items = append(items, linkForm(c, &l))
			}
		}
	}
	return rest.ListForms(r, items, err, rest.All, func(i *linkItem) linkItem { return *i }, func(i *linkItem) string { return i.Name })
}

func linkForm(c *management.Channel, l *management.Link) linkItem {
	role := "sender"
	if l.Receiver {
		role = "receiver"
	}
	return linkItem{
		l.Name, c.Connection.Name, c.Number, l.Handle, role, l.Address, forms.OrNull(l.Queue), l.DeliveryCount, l.Credit, l.Unsettled, c.User, c.VHost,
	}
}
