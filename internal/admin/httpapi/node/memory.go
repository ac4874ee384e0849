package node

import (
	"math"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// memoryItem is the JSON form of the memory breakdown, in RabbitMQ's parts. Parts that exist only in Erlang are 0.
type memoryItem struct {
	Readers         int64       `json:"connection_readers"`
	Writers         int64       `json:"connection_writers"`
	Channels        int64       `json:"connection_channels"`
	Connections     int64       `json:"connection_other"` // incomplete contents, and transactions
	Queues          int64       `json:"queue_procs"`      // their messages
	QuorumQueues    int64       `json:"quorum_queue_procs"`
	QuorumDLX       int64       `json:"quorum_queue_dlx_procs"`
	StreamQueues    int64       `json:"stream_queue_procs"`
	StreamReplicas  int64       `json:"stream_queue_replica_reader_procs"`
	StreamCoord     int64       `json:"stream_queue_coordinator_procs"`
	Plugins         int64       `json:"plugins"`
	MetadataStore   int64       `json:"metadata_store"`
	Other           int64       `json:"other_proc"` // all other objects
	Metrics         int64       `json:"metrics"`
	ManagementDB    int64       `json:"mgmt_db"`
	Mnesia          int64       `json:"mnesia"`
	QuorumETS       int64       `json:"quorum_ets"`
	MetadataETS     int64       `json:"metadata_store_ets"`
	OtherETS        int64       `json:"other_ets"`
	Binary          int64       `json:"binary"`
	Index           int64       `json:"msg_index"`
	Code            int64       `json:"code"`
	Atom            int64       `json:"atom"`
	System          int64       `json:"other_system"`         // stacks, and what the runtime needs itself
	AllocatedUnused int64       `json:"allocated_unused"`     // free, but not returned to the system
	Reserved        int64       `json:"reserved_unallocated"` // the part of the system's count beyond the runtime's
	Strategy        string      `json:"strategy,omitempty"`
	Total           memoryTotal `json:"total"`
}

type memoryTotal struct {
	Used      int64 `json:"erlang"`
	Resident  int64 `json:"rss"`
	Allocated int64 `json:"allocated"`
}

func memoryForm(m *management.Memory) memoryItem {
	return memoryItem{
		Connections: m.Arriving, Queues: m.Messages, Other: max(m.Objects-m.Arriving-m.Messages, 0), System: m.Runtime, AllocatedUnused: m.Free,
		Reserved: max(m.Resident-m.Objects-m.Runtime-m.Free, 0), Strategy: "rss",
		Total: memoryTotal{m.Objects + m.Runtime, m.Resident, m.Objects + m.Runtime + m.Free},
	}
}

// memory returns what memory is used for, in bytes.
func memory(r *rest.Request) (any, error) {
	m, err := r.Broker.Machine(r.Context())
	return map[string]memoryItem{"memory": memoryForm(&m.Memory)}, err
}

// memoryShares is memory in percent of the total; existing parts are at least 1.
func memoryShares(r *rest.Request) (any, error) {
	m, err := r.Broker.Machine(r.Context())
	shares := map[string]any{"total": 100}
	for part, n := range rest.Generic(memoryForm(&m.Memory)).(map[string]any) {
		if part == "total" || part == "strategy" {
			continue
		}
		bytes, _ := n.(interface{ Float64() (float64, error) }).Float64()
		share := math.Round(bytes / float64(max(m.Memory.Resident, 1)) * 100)
		if share == 0 && bytes > 0 {
			share = 1
		}
		shares[part] = share
	}
	return map[string]any{"memory": shares}, err
}

// noTables is the answer for tables of Erlang, which exist only in RabbitMQ.
var noTables = rest.Always(map[string]string{"ets_tables_memory": "no_tables"})
