package exposition

import (
	"net/http"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// nodes writes what a node knows of its cluster; nothing for a broker alone.
func nodes(w *writer, c management.ClusterState) {
	if len(c.Members) == 0 {
		return
	}
	w.gauge("candlemark_cluster_term", "Term of the leader, a number that grows with each election", float64(c.Term))
	w.gauge("candlemark_cluster_is_leader", "1 if this node leads the cluster", truth(c.Leader == c.Node))
	w.gauge("candlemark_cluster_has_leader", "1 if this node knows a leader", truth(c.Leader != ""))
	w.gauge("candlemark_cluster_members", "Nodes of the cluster", float64(len(c.Members)))
	w.gauge("candlemark_cluster_members_online", "Nodes that this node has heard a short time ago, itself included; only a leader hears all", float64(len(c.Names(true))))
	w.gauge("candlemark_cluster_committed_entry", "The last entry of the log that a majority has stored", float64(c.Committed))
	w.gauge("candlemark_cluster_copies", "Copies of its data that this node sends to other nodes now", float64(c.Copies.Now))
	w.counter("candlemark_cluster_copy_sent_bytes_total", "Bytes that were sent of such copies", c.Copies.Sent)
	w.counter("candlemark_cluster_copy_spared_bytes_total", "Bytes of such copies that the other nodes had already", c.Copies.Spared)
	for _, m := range c.Members {
		w.gauge("candlemark_cluster_lag_entries", "Entries that a node lacks", float64(m.Lag), "member", m.Name)
	}
	for _, m := range c.Members {
		if m.Heard >= 0 {
			w.gauge("candlemark_cluster_last_contact_seconds", "Time since a node was heard", m.Heard.Seconds(), "member", m.Name)
		}
	}
	for _, m := range c.Members {
		w.gauge("candlemark_cluster_clock_offset_seconds", "How far the clock of a node is ahead of this node's", m.Ahead.Seconds(), "member", m.Name)
	}
	w.gauge("rabbitmq_raft_term_total", "Term of the leader", float64(c.Term))
	w.gauge("rabbitmq_raft_log_commit_index", "The last entry of the log that a majority has stored", float64(c.Committed))
}

// Nodes answers scrapes of a node that runs no broker (CLU-22).
func Nodes(state func() management.ClusterState) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := state()
		body := page(func(w *writer) {
			nodes(w, c)
			process(w)
		}).rendered(w.Header(), r)
		out := rest.NewOutput(w, nil, "")
		defer out.Close()
		out.WritePacked(body, func() {})
	}
}
