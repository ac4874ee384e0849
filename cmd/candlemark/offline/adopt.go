package offline

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/routing/topology"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/parameters"
	"candlemark/internal/storage/store"
	"candlemark/policies"
	"candlemark/protocol"
)

// adoption selects queues of the journal missing from the definitions, and how to declare them.
type adoption struct {
	queues    []string // by VHOST/NAME or number; none for all
	as, vhost string   // the name of the one queue, "" for the one that the journal has
	arguments string   // a JSON object, "" for none
	// founders returns the first users of a data folder without definitions.
	founders func(dir string) (*auth.Users, error)
}

// options defines the options of the verb.
func (a *adoption) options(flags *flag.FlagSet) {
	flags.StringVar(&a.as, "as", "", "adopt: new `name` of the queue")
	flags.StringVar(&a.vhost, "vhost", "", "adopt: with --as, virtual `host` of the queue; default: the previous one, or /")
	flags.StringVar(&a.arguments, "arguments", "", "adopt: arguments of the declared queues, as a `JSON` object")
}

// adopt declares all of them, or none if one cannot be: durable, with the incarnation of their messages in the journal,
// so that the next start finds these.
func (a *adoption) adopt(dir string, defs definitions.Store, j store.Journal, stdout io.Writer) error {
	d, err := defs.Load()
	if err != nil {
		return err
	}
	names := j.Names()
	list, err := a.wanted(d, j.Queues(), names)
	if err != nil {
		return err
	}
	var users *auth.Users // of a new data folder
	if d.Revision == 0 {
		if users, err = a.founders(dir); err != nil {
			return err
		}
		d.VHosts = users.Stored().VHosts
	}
	change, notes, err := a.change(d, list, names)
	if err != nil {
		return err
	}
	if users != nil {
		if err := definitions.KeepUsers(defs, d, users); err != nil {
			return err
		}
	}
	if _, err := definitions.Wait(defs, change); err != nil {
		return err
	}
	for _, text := range notes {
		fmt.Fprintln(stdout, text)
	}
	for _, id := range list {
		fmt.Fprintf(stdout, "%s: declared, with %d messages\n", store.Title(id, names), len(j.Take(id)))
	}
	return nil
}

// wanted returns the queues to adopt.
func (a *adoption) wanted(d *definitions.Definitions, queues []store.QueueID, names map[store.QueueID]store.Name) (list []store.QueueID, err error) {
	unknown := slices.DeleteFunc(queues, func(id store.QueueID) bool {
		return slices.Contains(d.Ended, uint64(id)) || strings.HasPrefix(names[id].Queue, parameters.ProgressPrefix) ||
			slices.ContainsFunc(d.Queues, func(q definitions.Queue) bool { return q.Incarnation == uint64(id) })
	})
	if len(a.queues) == 0 {
		list = unknown
	}
	for _, want := range a.queues {
		found, err := unknownQueues(unknown, names, want)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("the journal has no messages of a queue %q that are not in the definitions", want)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, slices.DeleteFunc(found, func(id store.QueueID) bool { return slices.Contains(list, id) })...)
	}
	switch {
	case len(list) == 0:
		err = errors.New("the journal has no messages of queues that are not in the definitions")
	case a.as == "" && a.vhost != "":
		err = errors.New("--vhost requires --as")
	case a.as != "" && len(list) > 1:
		err = fmt.Errorf("--as requires a single queue, and %d match", len(list))
	}
	return list, err
}

// change returns the change of the definitions for the queues, and notes for the user. The names become theirs.
func (a *adoption) change(d *definitions.Definitions, list []store.QueueID, names map[store.QueueID]store.Name) (c definitions.Change, notes []string, err error) {
	arguments, err := a.table()
	if err != nil {
		return c, nil, err
	}
	vhosts := map[string]auth.VHost{}
	for _, v := range d.VHosts {
		vhosts[v.Name] = v
	}
	taken := map[store.Name]bool{}
	for i := range d.Queues {
		taken[store.Name{VHost: d.Queues[i].VHost, Queue: d.Queues[i].Name}] = true
	}
	var queues []any
	for _, id := range list {
		name, err := a.name(id, names, taken)
		if err != nil {
			return c, nil, err
		}
		taken[name] = true
		v, there := vhosts[name.VHost]
		if !there {
			v = auth.VHost{Name: name.VHost, Tags: []string{}}
			if err := v.Validate(); err != nil {
				return c, nil, err
			}
			vhosts[name.VHost] = v
			c.Put = append(c.Put, v)
			notes = append(notes, fmt.Sprintf("vhost '%s': created, without permissions for any user", v.Name))
		}
		args := policies.WithQueueType(arguments, true, false, false, v.DefaultQueueType)
		if err := policies.ValidateQueueArguments(name.Queue, name.VHost, args); err != nil {
			return c, nil, err
		}
		kind := "classic"
		if policies.KindOf(args) == policies.KindQuorumQueue {
			kind = "quorum"
		}
		queues = append(queues, definitions.Queue{VHost: name.VHost, Name: name.Queue, Type: kind, Incarnation: uint64(id), Arguments: args})
		names[id] = name
	}
	c.Put = append(c.Put, queues...)
	return c, notes, nil
}

// table returns the arguments.
func (a *adoption) table() (protocol.Table, error) {
	if a.arguments == "" {
		return nil, nil
	}
	if !json.Valid([]byte(a.arguments)) {
		return nil, errors.New("--arguments: not a JSON object")
	}
	body := rest.Body{Fields: map[string]json.RawMessage{"arguments": json.RawMessage(a.arguments)}}
	t := body.Table("arguments")
	if body.Err != nil {
		return nil, fmt.Errorf("--arguments: %w", body.Err)
	}
	return t, nil
}

// name returns the name for declaring a queue.
func (a *adoption) name(id store.QueueID, names map[store.QueueID]store.Name, taken map[store.Name]bool) (store.Name, error) {
	const other = "give it another one with --as <name>"
	name, known := names[id]
	if a.as != "" {
		name.Queue = a.as
		if a.vhost != "" || !known {
			name.VHost = a.vhost
		}
		if name.VHost == "" {
			name.VHost = "/"
		}
	}
	switch {
	case name.Queue == "":
		return name, fmt.Errorf("%s: %s", store.Title(id, names), other)
	case len(name.Queue) > 255 || a.as != "" && strings.HasPrefix(a.as, "amq."):
		return name, fmt.Errorf("%q cannot be the name of a queue", name.Queue)
	case name.Queue == topology.AdminExchange || topology.HeldFor(name.Queue) != name.Queue:
		return name, fmt.Errorf("the name of %s is reserved for the broker: %s", store.Title(id, names), other)
	case taken[name]:
		return name, fmt.Errorf("%s: another queue with messages has this name: %s", store.Title(id, names), other)
	}
	return name, nil
}
