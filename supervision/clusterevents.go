package supervision

import (
	"time"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/events"
	"candlemark/protocol"
)

const (
	// lookAtNodes is how often the nodes of a cluster are looked at, for events.
	lookAtNodes = time.Second
	// meeting is for how long a new leader need not have heard a node that is there.
	meeting = 3 * time.Second
)

// nodeWatcher publishes events about the nodes of a cluster, in its own goroutine (CLU-32).
type nodeWatcher struct {
	cluster management.Cluster
	hub     *events.Hub
	down    map[string]bool // the nodes that were not heard at the last look
	alarms  map[alarm]bool  // of the other nodes, at the last look
	short   func(bool)      // is told whether another node has a memory alarm
	slow    bool            // that the disk is slow was published
	stop    chan struct{}   // nil if not watching
	gone    chan struct{}
}

// alarm is an alarm of another node.
type alarm struct{ node, source string }

// watchNodes begins to publish events about the nodes of a cluster. A broker alone has none.
func watchNodes(c management.Cluster, hub *events.Hub, short func(bool)) *nodeWatcher {
	w := &nodeWatcher{cluster: c, hub: hub, short: short, down: map[string]bool{}}
	state := c.ClusterState()
	if len(state.Members) == 0 {
		return w
	}
	what := protocol.Table{{Key: "node", Value: state.Node}, {Key: "term", Value: int64(state.Term)}}
	if before := state.Previous(); before != "" {
		what = append(what, protocol.Field{Key: "previous_leader", Value: before})
	}
	w.publish("cluster.leader.elected", what)
	w.stop, w.gone = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(w.gone)
		timer := time.NewTimer(meeting)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				w.look()
				timer.Reset(lookAtNodes)
			case <-w.stop:
				return
			}
		}
	}()
	return w
}

// end stops the watch and waits for its goroutine.
func (w *nodeWatcher) end() {
	if w != nil && w.stop != nil {
		close(w.stop)
		<-w.gone
	}
}

func (w *nodeWatcher) look() {
	state := w.cluster.ClusterState()
	down, alarms, short := map[string]bool{}, map[alarm]bool{}, false
	for _, m := range state.Members {
		down[m.Name] = !m.Online
		if r := m.Report; r != nil {
			short = short || r.MemoryAlarm
			for source, is := range map[string]bool{"memory": r.MemoryAlarm, "disk": r.DiskAlarm} {
				if is {
					alarms[alarm{m.Name, source}] = true
				}
			}
		}
		switch {
		case w.down[m.Name] && m.Online:
			w.publish("node.up", protocol.Table{{Key: "node", Value: m.Name}})
		case !w.down[m.Name] && !m.Online:
			w.publish("node.down", protocol.Table{{Key: "node", Value: m.Name}})
		}
	}
	if is := state.Slow != ""; is != w.slow {
		if w.slow = is; is {
			w.publish("cluster.leader.slow", protocol.Table{{Key: "node", Value: state.Node}, {Key: "reason", Value: state.Slow}})
		}
	}
	w.down = down
	w.compare(alarms)
	w.short(short)
}

// compare publishes what has changed about the alarms of other nodes.
func (w *nodeWatcher) compare(now map[alarm]bool) {
	for a := range now {
		if !w.alarms[a] {
			w.publish("alarm.set", a.fields())
		}
	}
	for a := range w.alarms {
		if !now[a] {
			w.publish("alarm.cleared", a.fields())
		}
	}
	w.alarms = now
}

func (a alarm) fields() protocol.Table {
	return protocol.Table{{Key: "source", Value: a.source}, {Key: "node", Value: a.node}}
}

func (w *nodeWatcher) publish(name string, what protocol.Table) {
	w.hub.Publish(events.Change, func() *events.Event { return &events.Event{Name: name, Fields: what} })
}
