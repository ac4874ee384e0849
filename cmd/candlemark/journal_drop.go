package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"candlemark/internal/meta"
	"candlemark/internal/store"
	"candlemark/internal/store/segment"
	"candlemark/internal/store/vfs"
	"candlemark/internal/topology"
)

// dropMessages drops the messages of queues from the journal of a broker that does not
// run: those of queues that the definitions do not know, by number, and of queues that
// no broker brings back because they have one of its own names, with their definitions.
func dropMessages(dir string, wanted []string, stdout, stderr io.Writer) int {
	definitions, err := meta.Open(dir)
	if err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return exitUnavailable
	}
	j, _, err := segment.Open(vfs.OS, filepath.Join(dir, journalFolder), segment.Options{})
	if err == nil {
		err = errors.Join(dropQueues(definitions, j, wanted, stdout), j.Close())
	}
	if err = errors.Join(err, definitions.Close()); err != nil {
		fmt.Fprintln(stderr, "candlemark journal:", err)
		return exitSoftware
	}
	return 0
}

// dropQueues drops all of them, or nothing if one is not to be dropped.
func dropQueues(definitions meta.Meta, j store.Journal, wanted []string, stdout io.Writer) error {
	d, err := definitions.Load()
	if err != nil {
		return err
	}
	all, change := j.Queues(), meta.Change{}
	var list []store.QueueID
	for _, name := range wanted {
		id, defined, err := queueToDrop(d, all, name)
		if err != nil {
			return err
		}
		list = append(list, id)
		if defined != nil {
			change.Delete = append(change.Delete, *defined)
		}
	}
	if len(change.Delete) > 0 {
		if _, err := meta.Wait(definitions, change); err != nil {
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
		fmt.Fprintf(stdout, "queue %d: %d messages dropped\n", id, n)
	}
	return nil
}

// queueToDrop finds a queue by its number or name. defined is its definition, which
// goes as well, nil if there is none.
func queueToDrop(d *meta.Definitions, all []store.QueueID, name string) (id store.QueueID, defined *meta.Queue, err error) {
	number, errNumber := strconv.ParseUint(name, 10, 64)
	for i := range d.Queues {
		q := &d.Queues[i]
		if q.Name != name && (errNumber != nil || q.Incarnation != number) {
			continue
		}
		if q.Name != topology.AdminExchange && (q.Type == topology.HolderType || topology.HeldFor(q.Name) == q.Name) {
			return 0, nil, fmt.Errorf("queue '%s' in vhost '%s' is defined: purge or delete it in the running broker", q.Name, q.VHost)
		}
		return store.QueueID(q.Incarnation), q, nil
	}
	if errNumber != nil || !slices.Contains(all, store.QueueID(number)) {
		return 0, nil, fmt.Errorf("the journal has no messages of a queue %q", name)
	}
	return store.QueueID(number), nil, nil
}
