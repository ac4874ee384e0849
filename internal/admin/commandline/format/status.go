package format

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Status has what the API says of a broker: its overview, its node, the memory watermark, its alarms, and the number of
// its virtual hosts.
type Status struct {
	Overview, Node, Watermark map[string]any
	Alarms                    []string
	VHosts                    int
}

// Inside returns a field of an object in an object, nil if there is none.
func Inside(o map[string]any, keys ...string) any {
	value := any(o)
	for _, key := range keys {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}

// JSON writes the parts of rabbitmqctl's status that mean something here.
func (s Status) JSON(out io.Writer) error {
	return json.NewEncoder(out).Encode(map[string]any{
		"product_name": s.Overview["product_name"], "product_version": s.Overview["product_version"],
		"rabbitmq_version": s.Overview["rabbitmq_version"], "node": s.Overview["node"], "uptime": seconds(s.Node["uptime"]),
		"pid": s.Node["os_pid"], "alarms": append([]string{}, s.Alarms...), "listeners": s.Overview["listeners"], "totals": s.Overview["object_totals"],
		"vm_memory_high_watermark_limit": s.Node["mem_limit"], "disk_free_limit": s.Node["disk_free_limit"],
		"mem_used": s.Node["mem_used"], "disk_free": s.Node["disk_free"], "virtual_host_count": s.VHosts,
	})
}

// Text writes them for people.
func (s Status) Text(out io.Writer) {
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	say("Runtime\n")
	say("OS PID: %s", Cell(s.Node["os_pid"]))
	say("Uptime (seconds): %d", seconds(s.Node["uptime"]))
	say("Is under maintenance?: %s", Cell(s.Node["being_drained"]))
	say("Product name: %s", Cell(s.Overview["product_name"]))
	say("Product version: %s", Cell(s.Overview["product_version"]))
	say("RabbitMQ version: %s", Cell(s.Overview["rabbitmq_version"]))
	say("Node name: %s", Cell(s.Overview["node"]))
	say("\nAlarms\n\n%s", cmp.Or(strings.Join(s.Alarms, "\n"), "(none)"))
	say("\nMemory\n\nTotal memory used: %s\nCalculation strategy: rss", gigabytes(s.Node["mem_used"]))
	setting := gigabytes(s.Watermark["absolute"])
	if share := s.Watermark["relative"]; share != nil {
		setting = Cell(share) + " of available memory"
	}
	say("Memory high watermark setting: %s, computed to: %s", setting, gigabytes(s.Node["mem_limit"]))
	say("\nFile Descriptors\n\nTotal: %s, limit: %s", Cell(s.Node["fd_used"]), Cell(s.Node["fd_total"]))
	say("\nFree Disk Space\n\nLow free disk space watermark: %s", gigabytes(s.Node["disk_free_limit"]))
	say("Free disk space: %s", gigabytes(s.Node["disk_free"]))
	say("\nTotals\n")
	say("Connection count: %s", Cell(Inside(s.Overview, "object_totals", "connections")))
	say("Queue count: %s", Cell(Inside(s.Overview, "object_totals", "queues")))
	say("Virtual host count: %d", s.VHosts)
	say("\nListeners\n")
	Listeners(out, s.Overview)
}

// Listeners writes a line for each listener of an overview.
func Listeners(out io.Writer, overview map[string]any) {
	list, _ := overview["listeners"].([]any)
	slices.SortStableFunc(list, func(a, b any) int { return cmp.Compare(Listener(a), Listener(b)) })
	for _, l := range list {
		fmt.Fprintln(out, Listener(l))
	}
}

// purposes describe listeners as rabbitmqctl does.
var purposes = map[string]string{
	"amqp": "AMQP 0-9-1", "amqp/ssl": "AMQP 0-9-1 over TLS", "http": "HTTP API", "https": "HTTP API over TLS (HTTPS)",
}

// Listener returns the line of a listener.
func Listener(l any) string {
	o := map[string]any{"l": l}
	name := Cell(Inside(o, "l", "protocol"))
	return fmt.Sprintf("Interface: %s, port: %s, protocol: %s, purpose: %s",
		Cell(Inside(o, "l", "ip_address")), Cell(Inside(o, "l", "port")), name, cmp.Or(purposes[name], name))
}

func seconds(ms any) int64 {
	n, _ := ms.(json.Number)
	whole, _ := n.Int64() // 0 if it is no number
	return whole / 1000
}

func gigabytes(bytes any) string {
	n, _ := bytes.(json.Number)
	f, _ := n.Float64() // 0 if it is no number
	return fmt.Sprintf("%.4f gb", f/1e9)
}

// Cluster writes what rabbitmqctl does about a cluster.
func Cluster(out io.Writer, overview, versions map[string]any, alarms, all, online []string) {
	fmt.Fprintf(out, "Basics\n\nCluster name: %s\n\nDisk Nodes\n\n%s\n\nRunning Nodes\n\n%s\n", Cell(overview["cluster_name"]), strings.Join(all, "\n"), strings.Join(online, "\n"))
	fmt.Fprint(out, "\nVersions\n\n")
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		fmt.Fprintf(out, "%s: RabbitMQ %s by %s %s\n", name, Cell(Inside(versions, name, "rabbitmq_version")), Cell(overview["product_name"]), Cell(Inside(versions, name, "product_version")))
	}
	fmt.Fprintf(out, "\nAlarms\n\n%s\n\nNetwork Partitions\n\n(none)\n\nListeners\n\n", cmp.Or(strings.Join(alarms, "\n"), "(none)"))
	Listeners(out, overview)
}
