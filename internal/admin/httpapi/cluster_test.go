package httpapi

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"

	"github.com/rs/zerolog"
)

// nodesFake is a broker of a cluster.
type nodesFake struct {
	*fake
	state management.ClusterState
	asked string
}

func (f *nodesFake) ClusterState() management.ClusterState { return f.state }

func (f *nodesFake) Machine(context.Context) (management.Machine, error) {
	return management.Machine{}, nil
}

func (f *nodesFake) Overview(context.Context) (management.Overview, error) {
	return management.Overview{Node: f.NodeName()}, nil
}

func (f *nodesFake) Clock() *clock.Clock { return clock.New() }

func (f *nodesFake) TransferLeadership(to string) error {
	f.asked = "transfer " + to
	return nil
}

func (f *nodesFake) Drain(node string) error {
	f.asked = "drain " + node
	return management.ErrAlone
}

func (f *nodesFake) Forget(node string) error {
	f.asked = "forget " + node
	return nil
}

func (f *nodesFake) Reset(string) error { return errors.New("it must not") }

func (f *nodesFake) Join(node string) error {
	f.asked = "join " + node
	return nil
}

// TestCluster_CLU22: the API shows the nodes, with what they have said of themselves (CLU-33), a check fails without a spare one, and commands name nodes that exist.
func TestCluster_CLU22(t *testing.T) {
	f := &nodesFake{fake: newFixture(t), state: management.ClusterState{
		ID: "c", Node: "rabbit@n1", Leader: "rabbit@n1", Term: 3, Committed: 9, Level: 2, Members: []management.Member{
			{Name: "rabbit@n1", Address: "h1:1", Clients: []string{"amqp=h1:2"}, Voter: true, Leader: true, Online: true, Last: 9},
			{Name: "rabbit@n2", Address: "h2:1", Voter: true, Online: true, Last: 7, Lag: 2, Heard: 80 * time.Millisecond, Ahead: -time.Millisecond, Report: &management.Report{
				Machine: management.Machine{MemoryUsed: 5, DiskAlarm: true, FilesUsed: 7, Uptime: 3000}, Version: "1.2", PID: 12, Drained: true,
			}},
			{Name: "rabbit@n3", Voter: false, Online: true, Heard: -1},
		},
		Elections: []management.Election{{Term: 2, Leader: "rabbit@n2", At: 1000}, {Term: 3, Leader: "rabbit@n1", At: 2000}},
	}}
	h := NewHandler(f, f.users, zerolog.Nop())
	const check = "/api/health/checks/node-is-quorum-critical"
	run(t, h, []step{
		{"GET", "/api/x/cluster", "", 200, `{"id":"c","node":"candlemark@here","leader":"rabbit@n1","term":3,"committed":9,"members":[` +
			`{"name":"rabbit@n1","address":"h1:1","client_addresses":["amqp=h1:2"],"role":"leader","online":true,"match":9,"lag":0,"last_contact_ms":0,"clock_offset_ms":0},` +
			`{"name":"rabbit@n2","address":"h2:1","client_addresses":[],"role":"follower","online":true,"match":7,"lag":2,"last_contact_ms":80,"clock_offset_ms":-1},` +
			`{"name":"rabbit@n3","address":"","client_addresses":[],"role":"learner","online":true,"match":0,"lag":0,"last_contact_ms":null,"clock_offset_ms":0}],` +
			`"level":2,"elections":[{"term":2,"leader":"rabbit@n2","timestamp_in_ms":1000},{"term":3,"leader":"rabbit@n1","timestamp_in_ms":2000}]}`},
		{"GET", "/api/nodes?columns=name,running,mem_used,disk_free_alarm,fd_used,uptime,os_pid,product_version,being_drained", "", 200, `[` +
			`{"being_drained":false,"disk_free_alarm":false,"fd_used":0,"mem_used":0,"name":"candlemark@here","os_pid":"` + strconv.Itoa(os.Getpid()) + `","product_version":"","running":true,"uptime":0},` +
			`{"being_drained":true,"disk_free_alarm":true,"fd_used":7,"mem_used":5,"name":"rabbit@n2","os_pid":"12","product_version":"1.2","running":true,"uptime":3000},` +
			`{"being_drained":false,"disk_free_alarm":false,"fd_used":0,"mem_used":0,"name":"rabbit@n3","os_pid":"","product_version":"","running":true,"uptime":0}]`},
		{"GET", "/api/health/checks/alarms", "", 503, `{"status":"failed","reason":"There are alarms in effect in the cluster","alarms":[{"node":"rabbit@n2","resource":"disk space"}]}`},
		{"GET", "/api/health/checks/local-alarms", "", 200, `{"status":"ok"}`},
		{"PUT", "/api/x/cluster/leader", `{"node":"rabbit@n2"}`, 204, ""},
		{"PUT", "/api/x/cluster/leader", `{"node":"rabbit@n4"}`, 404, absent},
		{"PUT", "/api/x/cluster/drained/rabbit@n2", "", 400, badRequest("the broker is not a node of a cluster")},
		{"GET", check, "", 503, `{"status":"failed","reason":"There are no more nodes online than a majority needs"}`},
	})
	if f.asked != "drain rabbit@n2" {
		t.Error(f.asked)
	}
	run(t, h, []step{{"DELETE", "/api/x/cluster/members/rabbit@n3", "", 204, ""}, {"DELETE", "/api/x/cluster/members/rabbit@n4", "", 404, absent}})
	if f.asked != "forget rabbit@n3" {
		t.Error(f.asked)
	}
	run(t, h, []step{
		{"PUT", "/api/x/cluster/reset/rabbit@n3", "", 400, badRequest("rabbit@n3: it must not")},
		{"PUT", "/api/x/cluster/joined", `{"node":"rabbit@n1"}`, 204, ""},
	})
	if f.asked != "join rabbit@n1" {
		t.Error(f.asked)
	}
	const clocks = "/api/x/health/cluster-clocks"
	run(t, h, []step{{"GET", clocks, "", 200, `{"status":"ok"}`}})
	f.state.Members[1].Ahead = -3 * time.Second
	run(t, h, []step{{"GET", clocks, "", 503, `{"status":"failed","reason":"Clocks are ahead of that of candlemark@here: rabbit@n2 by -3s"}`}})
	f.state.Members[2].Voter = true
	run(t, h, []step{{"GET", check, "", 200, `{"status":"ok"}`}})
	f.state = management.ClusterState{}
	run(t, h, []step{
		{"GET", check, "", 200, `{"status":"ok","reason":"single node cluster"}`},
		{"PUT", "/api/x/cluster/leader", `{}`, 400, badRequest("the broker is not a node of a cluster")},
	})
}
