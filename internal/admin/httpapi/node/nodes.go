package node

import (
	"os"
	"slices"
	"strconv"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// tasksMax is how many goroutines there may be, as far as tools divide by it.
const tasksMax = 1 << 20

// nodeItem is the JSON form of a node. RabbitMQ's fields about Erlang are left out, or empty where clients require
// them.
type nodeItem struct {
	Applications    []struct{}     `json:"applications"`
	Mechanisms      []mechanism    `json:"auth_mechanisms"`
	Drained         bool           `json:"being_drained"`
	ClusterLinks    []struct{}     `json:"cluster_links"`
	ConfigFiles     []string       `json:"config_files"`
	Contexts        []contextItem  `json:"contexts"`
	Directory       string         `json:"db_dir"`
	DiskFree        int64          `json:"disk_free"`
	DiskFreeRate    forms.Rate     `json:"disk_free_details"`
	DiskAlarm       bool           `json:"disk_free_alarm"`
	DiskLimit       int64          `json:"disk_free_limit"`
	Plugins         []string       `json:"enabled_plugins"`
	ErlangVersion   string         `json:"erlang_version"` // "": there is none
	ErlangFull      string         `json:"erlang_full_version"`
	ExchangeTypes   []exchangeType `json:"exchange_types"`
	FilesMax        int            `json:"fd_total"`
	FilesUsed       int            `json:"fd_used"`
	FilesRate       forms.Rate     `json:"fd_used_details"`
	Freed           uint64         `json:"gc_bytes_reclaimed"`
	FreedRate       forms.Rate     `json:"gc_bytes_reclaimed_details"`
	Collections     uint64         `json:"gc_num"`
	CollectionsRate forms.Rate     `json:"gc_num_details"`
	LogFiles        []string       `json:"log_files"`
	MemoryAlarm     bool           `json:"mem_alarm"`
	MemoryStrategy  string         `json:"mem_calculation_strategy"`
	MemoryLimit     int64          `json:"mem_limit"`
	MemoryUsed      int64          `json:"mem_used"`
	MemoryRate      forms.Rate     `json:"mem_used_details"`
	Name            string         `json:"name"`
	TickTime        int            `json:"net_ticktime"`
	PID             string         `json:"os_pid"`
	Partitions      []struct{}     `json:"partitions"`
	TasksMax        int            `json:"proc_total"`
	Tasks           int            `json:"proc_used"`
	TasksRate       forms.Rate     `json:"proc_used_details"`
	Processors      int            `json:"processors"`
	RabbitMQVersion string         `json:"rabbitmq_version"`
	RatesMode       string         `json:"rates_mode"`
	RunQueue        int            `json:"run_queue"`
	Running         bool           `json:"running"`
	SocketsMax      int            `json:"sockets_total"`
	SocketsUsed     int            `json:"sockets_used"`
	SocketsRate     forms.Rate     `json:"sockets_used_details"`
	Type            string         `json:"type"`
	Uptime          int64          `json:"uptime"`
	Version         string         `json:"product_version"`
	TestClock       bool           `json:"test_clock,omitempty"`
	churnItem
}

type mechanism struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Enabled     bool   `json:"enabled"`
}

// contextItem is the JSON form of a listener for HTTP. The port is a text, as in RabbitMQ.
type contextItem struct {
	Node        string `json:"node,omitempty"`
	Description string `json:"description"`
	Path        string `json:"path"`
	IP          string `json:"ip"`
	Port        string `json:"port"`
	Protocol    string `json:"protocol,omitempty"` // other than HTTP
}

// nodeForm is a node by what it says of its machine, without what only a broker knows.
func nodeForm(r *rest.Request, name string, m *management.Machine) nodeItem {
	key := "node"
	if name != r.Node {
		key += " " + name
	}
	f := r.Rates.Of(key, float64(m.DiskFree), float64(m.FilesUsed), float64(m.Freed), float64(m.Collections),
		float64(m.MemoryUsed), float64(m.Tasks), float64(m.SocketsUsed))
	return nodeItem{
		Applications: []struct{}{}, Mechanisms: []mechanism{}, ClusterLinks: []struct{}{}, ConfigFiles: []string{}, Contexts: []contextItem{},
		Directory: m.DataDirectory, DiskFree: m.DiskFree, DiskFreeRate: f[0], DiskLimit: m.DiskLimit, DiskAlarm: m.DiskAlarm,
		Plugins: plugins, ExchangeTypes: exchangeTypes(), FilesMax: m.FilesMax, FilesUsed: m.FilesUsed, FilesRate: f[1],
		Freed: m.Freed, FreedRate: f[2], Collections: m.Collections, CollectionsRate: f[3], LogFiles: []string{"<stdout>"},
		MemoryStrategy: "rss", MemoryLimit: m.MemoryLimit, MemoryAlarm: m.MemoryAlarm, MemoryUsed: m.MemoryUsed, MemoryRate: f[4], Name: name, TickTime: 60,
		Partitions: []struct{}{}, TasksMax: tasksMax, Tasks: m.Tasks, TasksRate: f[5],
		Processors: m.Processors, RabbitMQVersion: protocol.RabbitMQVersion, RatesMode: ratesMode, Running: true, SocketsMax: m.SocketsMax, SocketsUsed: m.SocketsUsed, SocketsRate: f[6],
		Type: "disc", Uptime: m.Uptime,
	}
}

// brokerForm is the node with the broker.
func brokerForm(r *rest.Request, m *management.Machine, o *management.Overview) nodeItem {
	item := nodeForm(r, o.Node, m)
	item.Contexts, item.PID, item.Version = contexts(o), strconv.Itoa(os.Getpid()), o.ProductVersion
	item.TestClock, item.churnItem = r.Broker.Clock().Manual(), churnForm(r, "", o.Churn)
	for _, name := range m.Mechanisms {
		item.Mechanisms = append(item.Mechanisms, mechanism{name, "SASL " + name + " authentication mechanism", true})
	}
	return item
}

// contexts returns the listeners for HTTP.
func contexts(o *management.Overview) []contextItem {
	items := []contextItem{}
	for _, l := range o.Listeners {
		switch item := (contextItem{"", "Candlemark Management", "/", l.Address, strconv.Itoa(l.Port), ""}); l.Protocol {
		case "http", "https":
			items = append(items, item)
		case "http/prometheus":
			item.Description, item.Protocol = "Candlemark Prometheus", "'http/prometheus'" // with its quotes, as in RabbitMQ
			items = append(items, item)
		}
	}
	return items
}

// otherNodes are the nodes of the cluster that do not lead, by what they have said last (CLU-33). One that has said nothing lately has figures of 0.
func otherNodes(r *rest.Request) (items []nodeItem) {
	for _, m := range r.Broker.ClusterState().Members {
		if m.Leader {
			continue
		}
		said := management.Report{}
		if m.Report != nil {
			said = *m.Report
		}
		item := nodeForm(r, m.Name, &said.Machine)
		item.Running, item.Drained, item.Version = m.Online, said.Drained, said.Version
		if said.PID != 0 {
			item.PID = strconv.Itoa(said.PID)
		}
		items = append(items, item)
	}
	return items
}

// nodes are all nodes, the one with the broker first, or the one named in the path.
var nodes = rest.Resource[nodeItem]{
	Items: func(r *rest.Request) ([]nodeItem, error) {
		others := otherNodes(r)
		if r.Name != "" && r.Name != r.Node {
			return slices.DeleteFunc(others, func(n nodeItem) bool { return n.Name != r.Name }), nil
		}
		m, err := r.Broker.Machine(r.Context())
		if err != nil {
			return nil, err
		}
		o, err := r.Broker.Overview(r.Context())
		return append([]nodeItem{brokerForm(r, &m, &o)}, others...), err
	},
	Name: func(n *nodeItem) string { return n.Name },
}
