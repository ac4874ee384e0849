package offline

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"
)

// dropQueues drops the messages of queues missing from the definitions, by VHOST/NAME or number, and of queues that no
// broker restores because they have a reserved name, with their definitions: all of them, or none if one must not be
// dropped.
func dropQueues(defs definitions.Store, j store.Journal, wanted []string, stdout io.Writer) error {
	d, err := defs.Load()
	if err != nil {
		return err
	}
	unknown, names, change := j.Queues(), j.Names(), definitions.Change{}
	for i := range d.Queues {
		q := &d.Queues[i]
		id := store.QueueID(q.Incarnation)
		names[id] = store.Name{VHost: q.VHost, Queue: q.Name}
		unknown = slices.DeleteFunc(unknown, func(one store.QueueID) bool { return one == id })
	}
	var list []store.QueueID
	for _, want := range wanted {
		found, err := unknownQueues(unknown, names, want)
		if err == nil && len(found) == 0 {
			var q *definitions.Queue
			if q, err = unreachableQueue(d, want); err == nil {
				change.Delete = append(change.Delete, *q)
				found = append(found, store.QueueID(q.Incarnation))
			}
		}
		if err != nil {
			return err
		}
		list = append(list, slices.DeleteFunc(found, func(id store.QueueID) bool { return slices.Contains(list, id) })...)
	}
	if len(change.Delete) > 0 {
		if _, err := definitions.Wait(defs, change); err != nil {
			return err
		}
	}
	for _, id := range list {
		dropped := make(chan error, 1)
		n := len(j.Take(id))
		j.Append(id, []store.Record{{Kind: store.Retire, Time: time.Now().UnixMilli()}}, func(err error) { dropped <- err })
		if err := <-dropped; err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %d messages dropped\n", store.Title(id, names), n)
	}
	return nil
}

// unknownQueues finds undefined queues by number, or by VHOST/NAME. Several may have had the same name at different
// times; different names with the same text, such as the queue b/c of the virtual host a and the queue c of a/b, are an
// error.
func unknownQueues(unknown []store.QueueID, names map[store.QueueID]store.Name, want string) (found []store.QueueID, err error) {
	for _, id := range unknown {
		if name, ok := names[id]; want != strconv.FormatUint(uint64(id), 10) && (!ok || name.Path() != want) {
			continue
		}
		if len(found) > 0 && names[found[0]] != names[id] {
			return nil, fmt.Errorf("%q is the name of the %s and of the %s: give a number instead",
				want, store.Title(found[0], names), store.Title(id, names))
		}
		found = append(found, id)
	}
	return found, nil
}

// unreachableQueue finds a defined queue that no broker restores, by its number or name.
func unreachableQueue(d *definitions.Definitions, want string) (*definitions.Queue, error) {
	for i := range d.Queues {
		q := &d.Queues[i]
		name := store.Name{VHost: q.VHost, Queue: q.Name}
		if q.Name != want && name.Path() != want && strconv.FormatUint(q.Incarnation, 10) != want {
			continue
		}
		if q.Name != topology.AdminExchange && (q.Type == topology.HolderType || topology.HeldFor(q.Name) == q.Name) {
			return nil, fmt.Errorf("%s is in the definitions: purge or delete it in the running broker", name)
		}
		return q, nil
	}
	return nil, fmt.Errorf("the journal has no messages of a queue %q", want)
}
