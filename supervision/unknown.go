package supervision

import (
	"errors"
	"fmt"
	"strings"

	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
)

// ErrUnknownQueues is wrapped by the error of Start that lists messages in the journal of queues neither defined nor
// known to be deleted.
var ErrUnknownQueues = errors.New("the journal has messages of queues missing from the definitions; the definitions may be older than the journal")

// unknownShown is the maximum number of queues that an error or a line of the log names.
const unknownShown = 50

// retireEnded drops the messages in the journal of deleted queues: the broker stopped between the two steps of deleting
// them. If there are messages of other unknown queues, they are kept and the start is refused. Otherwise the journal
// then has exactly the names it needs.
func (n *Node) retireEnded(d *definitions.Definitions) error {
	defined := make(map[store.QueueID]store.Name, len(d.Queues))
	for i := range d.Queues {
		defined[store.QueueID(d.Queues[i].Incarnation)] = store.Name{VHost: d.Queues[i].VHost, Queue: d.Queues[i].Name}
	}
	schedules := map[store.QueueID]struct{}{}
	for i := range d.Parameters {
		for _, id := range parameters.Incarnations(&d.Parameters[i]) {
			schedules[store.QueueID(id)] = struct{}{}
		}
	}
	deleted := make(map[store.QueueID]struct{}, len(d.Ended))
	gone := make([]store.QueueID, 0, len(d.Ended))
	for _, id := range d.Ended {
		deleted[store.QueueID(id)] = struct{}{}
		gone = append(gone, store.QueueID(id))
	}
	names := n.cfg.Journal.Names()
	for id, name := range names { // of schedules that are no more
		if _, is := schedules[id]; !is && strings.HasPrefix(name.Queue, parameters.ProgressPrefix) {
			deleted[id] = struct{}{}
			n.cfg.Journal.Append(id, []store.Record{{Kind: store.Retire, Time: n.clock.Wall()}}, nil)
		}
	}
	var known, unknown []store.QueueID
	for _, id := range n.cfg.Journal.Queues() {
		if _, is := defined[id]; is {
			known = append(known, id)
		} else if _, is := schedules[id]; is {
			continue
		} else if _, is := deleted[id]; !is {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 && n.cfg.Meta != nil {
		return n.unknownQueues(unknown, names)
	}
	n.dropAll(append(unknown, gone...), names)
	for _, id := range known {
		if name := defined[id]; names[id] != name {
			n.cfg.Journal.Append(id, []store.Record{store.Naming(name)}, nil)
		}
	}
	for id := range names {
		_, schedule := schedules[id]
		if _, is := defined[id]; !is && !schedule { // it has no messages, and no queue will remove its name from the journal
			n.cfg.Journal.Append(id, []store.Record{{Kind: store.Retire, Time: n.clock.Wall()}}, nil)
		}
	}
	return nil
}

// dropAll drops the messages in the journal of unwanted queues.
func (n *Node) dropAll(list []store.QueueID, names map[store.QueueID]store.Name) {
	messages := 0
	var titles []string
	for _, id := range list {
		count := len(n.cfg.Journal.Take(id))
		if messages += count; count > 0 && len(titles) < unknownShown {
			titles = append(titles, store.Title(id, names))
		}
		n.retire(id)
	}
	if messages > 0 {
		n.cfg.Log.Warn().Int("queues", len(list)).Int("messages", messages).Strs("first", titles).
			Msg("messages of deleted queues were removed from the journal")
	}
}

// unknownQueues lists these queues and their messages in the journal: all of them in the log, the first ones in the
// error.
func (n *Node) unknownQueues(list []store.QueueID, names map[store.QueueID]store.Name) error {
	var text strings.Builder
	messages := 0
	for i, id := range list {
		count := len(n.cfg.Journal.Take(id))
		messages += count
		if i < unknownShown {
			fmt.Fprintf(&text, ", %s has %d", store.Title(id, names), count)
		}
		n.cfg.Log.Error().Str("vhost", names[id].VHost).Str("queue", names[id].Queue).Uint64("number", uint64(id)).Int("messages", count).
			Msg("the journal has messages of a queue that is not in the definitions")
	}
	if more := len(list) - unknownShown; more > 0 {
		fmt.Fprintf(&text, ", and %d more, which the log names", more)
	}
	return fmt.Errorf("%w: %d messages of %d queues%s; nothing was dropped; restore the newest definitions, "+
		"or declare the queues again with `candlemark journal adopt --data-dir <folder>`, "+
		"or drop the messages of a queue with `candlemark journal drop --data-dir <folder> <vhost>/<queue>`, as %s, or by its number "+
		"(`candlemark journal dump` shows their exchanges and routing keys)", ErrUnknownQueues, messages, len(list), text.String(), example(list, names))
}

// example returns a queue in the form that `candlemark journal drop` accepts.
func example(list []store.QueueID, names map[store.QueueID]store.Name) string {
	for _, id := range list {
		if name, ok := names[id]; ok {
			return "'" + name.Path() + "'"
		}
	}
	return fmt.Sprint(list[0])
}
