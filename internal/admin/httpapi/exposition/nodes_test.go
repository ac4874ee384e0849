package exposition

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"candlemark/internal/admin/management"
)

// TestNodes_CLU22: a node that runs no broker tells what it knows of its cluster.
func TestNodes_CLU22(t *testing.T) {
	h := Nodes(func() management.ClusterState {
		return management.ClusterState{Node: "rabbit@n2", Leader: "rabbit@n1", Term: 4, Committed: 9, Copies: management.Copies{Now: 1, Sent: 5, Spared: 6}, Members: []management.Member{
			{Name: "rabbit@n1", Online: true, Leader: true, Lag: 0, Heard: 100 * time.Millisecond, Ahead: time.Second}, {Name: "rabbit@n2", Online: true, Lag: 3}, {Name: "rabbit@n3", Heard: -1},
		}}
	})
	w := httptest.NewRecorder()
	h(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		"candlemark_cluster_term 4", "candlemark_cluster_is_leader 0", "candlemark_cluster_has_leader 1", "candlemark_cluster_members 3", "candlemark_cluster_members_online 2",
		`candlemark_cluster_lag_entries{member="rabbit@n2"} 3`, `candlemark_cluster_last_contact_seconds{member="rabbit@n1"} 0.1`, `candlemark_cluster_clock_offset_seconds{member="rabbit@n1"} 1`,
		"candlemark_cluster_copies 1", "candlemark_cluster_copy_sent_bytes_total 5", "candlemark_cluster_copy_spared_bytes_total 6",
		"rabbitmq_raft_term_total 4", "rabbitmq_raft_log_commit_index 9", "go_goroutines",
	} {
		if !strings.Contains(w.Body.String(), "\n"+want) {
			t.Errorf("%s is missing in\n%s", want, w.Body)
		}
	}
	if strings.Contains(w.Body.String(), `last_contact_seconds{member="rabbit@n3"}`) {
		t.Error("a node that was never heard has a time")
	}
}
