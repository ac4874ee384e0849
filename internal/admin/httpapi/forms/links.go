package forms

import (
	"strconv"
	"strings"

	"candlemark/internal/admin/management"
)

// Consumer is the JSON form of a consumer.
type Consumer struct {
	Arguments   Object       `json:"arguments"`
	AckRequired bool         `json:"ack_required"`
	Active      bool         `json:"active"`
	Activity    string       `json:"activity_status"` // "up" or "waiting"
	Channel     channelLink  `json:"channel_details"`
	Tag         string       `json:"consumer_tag"`
	Timeout     int64        `json:"consumer_timeout"` // ms
	Limited     bool         `json:"consumer_timeout_set"`
	Exclusive   bool         `json:"exclusive"`
	Prefetch    int          `json:"prefetch_count"`
	Queue       consumedItem `json:"queue"`
}

// defaultConsumerTimeout is RabbitMQ's default in ms, shown for consumers without a timeout: clients expect a number.
const defaultConsumerTimeout = 30 * 60 * 1000

// channelLink is how other objects name a channel.
type channelLink struct {
	Connection string `json:"connection_name"`
	Name       string `json:"name"`
	Node       string `json:"node"`
	Number     int    `json:"number"`
	PeerHost   string `json:"peer_host"`
	PeerPort   int    `json:"peer_port"`
	User       string `json:"user"`
}

type consumedItem struct {
	Name  string `json:"name"`
	VHost string `json:"vhost"`
}

// ConsumerOf makes the forms of consumers of a broker with that name.
func ConsumerOf(node string) func(*management.Consumer) Consumer {
	return func(c *management.Consumer) Consumer {
		item := Consumer{
			Arguments: Object(c.Arguments), AckRequired: !c.NoAck, Active: c.Active, Activity: "up", Tag: c.Tag, Timeout: c.Timeout,
			Exclusive: c.Exclusive, Prefetch: c.Prefetch, Queue: consumedItem{c.Queue, c.VHost}, Channel: channelLink{Node: node, Number: c.Channel},
		}
		if item.Limited = c.Timeout >= 0; !item.Limited {
			item.Timeout = defaultConsumerTimeout
		}
		if !c.Active {
			item.Activity = "waiting"
		}
		if k := c.Connection; k != nil {
			item.Channel.Connection, item.Channel.Name = k.Name, ChannelName(k.Name, c.Channel)
			item.Channel.PeerHost, item.Channel.PeerPort, item.Channel.User = k.PeerHost, k.PeerPort, k.User
		}
		return item
	}
}

// ConnectionLink is how other objects name a connection.
type ConnectionLink struct {
	Name     string `json:"name"`
	PeerHost string `json:"peer_host"`
	PeerPort int    `json:"peer_port"`
}

// ChannelName returns the name of a channel in paths and lists.
func ChannelName(connection string, number int) string {
	return connection + " (" + strconv.Itoa(number) + ")"
}

// ChannelNamed is the inverse of ChannelName; connection "" for what is no such name.
func ChannelNamed(name string) (connection string, number int) {
	at := max(strings.LastIndex(name, " ("), 0)
	connection = name[:at]
	number, err := strconv.Atoi(strings.Trim(name[at:], " ()"))
	if err != nil || ChannelName(connection, number) != name {
		return "", 0
	}
	return connection, number
}

// LinkTo names a connection.
func LinkTo(c *management.Connection) ConnectionLink {
	return ConnectionLink{c.Name, c.PeerHost, c.PeerPort}
}
