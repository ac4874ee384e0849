package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"candlemark/protocol"
)

// script is one sequence of actions, played against both brokers.
type script struct {
	id    string // area/topic/case
	steps []step
}

// step is one thing that the client does.
type step struct {
	conn int    // which of the script's connections, from 1
	ch   uint16 // 0 for the connection itself
	bare bool   // do not open connection or channel first
	says string // for the transcript
	does func(*player, *step)
	sub  []step // a group: does is nil
}

// option changes a method or, with prop, the properties of a publish.
type option struct {
	flag  string // field to set to true
	key   string // argument to add
	value any
	prop  func(*protocol.Properties)
}

func bit(field string) option { return option{flag: field} }

var (
	passive    = bit("Passive")
	durable    = bit("Durable")
	exclusive  = bit("Exclusive")
	autoDelete = bit("AutoDelete")
	internal   = bit("Internal")
	noWait     = bit("NoWait")
	noAck      = bit("NoAck")
	noLocal    = bit("NoLocal")
	ifUnused   = bit("IfUnused")
	ifEmpty    = bit("IfEmpty")
	mandatory  = bit("Mandatory")
	immediate  = bit("Immediate")
	multiple   = bit("Multiple")
	requeue    = bit("Requeue")
	global     = bit("Global")
)

// arg returns a method argument; a Go int travels as a signed 32-bit or, if it must, 64-bit integer.
func arg(key string, value any) option { return option{key: key, value: wire(value)} }

func wire(value any) any {
	n, ok := value.(int)
	switch {
	case !ok:
		return value
	case int(int32(n)) == n:
		return int32(n)
	}
	return int64(n)
}

func prop(set func(*protocol.Properties)) option { return option{prop: set} }

func header(key string, value any) option {
	return prop(func(p *protocol.Properties) {
		p.Headers = append(p.Headers, protocol.Field{Key: key, Value: wire(value)})
		p.Flags |= protocol.FlagHeaders
	})
}

func expiration(ms string) option {
	return prop(func(p *protocol.Properties) { p.Expiration = ms; p.Flags |= protocol.FlagExpiration })
}

func priority(n uint8) option {
	return prop(func(p *protocol.Properties) { p.Priority = n; p.Flags |= protocol.FlagPriority })
}

func persistent() option {
	return prop(func(p *protocol.Properties) { p.DeliveryMode = 2; p.Flags |= protocol.FlagDeliveryMode })
}

func replyTo(name string) option {
	return prop(func(p *protocol.Properties) { p.ReplyTo = name; p.Flags |= protocol.FlagReplyTo })
}

func userID(name string) option {
	return prop(func(p *protocol.Properties) { p.UserID = name; p.Flags |= protocol.FlagUserID })
}

// s makes a script.
func s(id string, steps ...step) script { return script{id: id, steps: steps} }

// one is a value with a name, for families of scripts.
type one struct {
	name  string
	value any
}

// each makes a script of every value.
func each(prefix string, values []one, steps func(value any) []step) []script {
	made := make([]script, 0, len(values))
	for _, v := range values {
		made = append(made, s(prefix+"/"+v.name, steps(v.value)...))
	}
	return made
}

// join puts lists of scripts together.
func join(lists ...[]script) []script {
	var all []script
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// on does the steps on another connection and channel.
func on(conn int, ch uint16, steps ...step) step {
	moved := make([]step, len(steps))
	for i, st := range steps {
		if st.does == nil {
			st = on(conn, ch, st.sub...)
		} else if st.conn = conn; st.ch != 0 {
			st.ch = ch
		}
		moved[i] = st
	}
	return step{sub: moved}
}

// do is several steps as one.
func do(steps ...step) step { return step{sub: steps} }

// bare does the steps as they are: the channel is not opened again after the server closed it.
func bare(steps ...step) step {
	kept := make([]step, len(steps))
	for i, st := range steps {
		if st.does == nil {
			st = bare(st.sub...)
		}
		st.bare = true
		kept[i] = st
	}
	return step{sub: kept}
}

// call sends a method and waits for its answer, unless it has the flag NoWait.
func call(m protocol.Method, options ...option) step {
	change(m, options)
	waits := !isSet(m, "NoWait")
	return method(m, waits)
}

// send sends a method and does not wait.
func send(m protocol.Method, options ...option) step {
	change(m, options)
	return method(m, false)
}

func method(m protocol.Method, waits bool) step {
	st := step{conn: 1, ch: 1, says: describe(m)}
	if m.Key().Class() == 10 {
		st.ch = 0
	}
	st.does = func(p *player, st *step) { p.sendMethod(st, m, waits) }
	return st
}

func isSet(m protocol.Method, field string) bool {
	f := reflect.ValueOf(m).Elem().FieldByName(field)
	return f.IsValid() && f.Bool()
}

// change applies options to a method; one that does not fit is a mistake in a script.
func change(m protocol.Method, options []option) {
	v := reflect.ValueOf(m).Elem()
	for _, o := range options {
		switch {
		case o.flag != "":
			v.FieldByName(o.flag).SetBool(true)
		case o.key != "":
			arguments := v.FieldByName("Arguments")
			t := append(arguments.Interface().(protocol.Table), protocol.Field{Key: o.key, Value: o.value})
			arguments.Set(reflect.ValueOf(t))
		}
	}
}

// publish sends a whole message and does not wait.
func publish(exchange, key, body string, options ...option) step {
	m := &protocol.BasicPublish{Exchange: exchange, RoutingKey: key}
	var properties protocol.Properties
	for _, o := range options {
		if o.prop != nil {
			o.prop(&properties)
		} else {
			change(m, []option{o})
		}
	}
	says := describe(m) + " " + describeProperties(properties) + " " + shorten(body)
	return step{conn: 1, ch: 1, says: strings.TrimSpace(says), does: func(p *player, st *step) {
		p.publish(st, m, properties, body)
	}}
}

// settle waits until the brokers have nothing more to say.
func settle() step {
	return step{conn: 1, ch: 1, bare: true, does: func(p *player, _ *step) { p.settle() }}
}

// pause lets time pass, then settles.
func pause(ms int) step {
	return step{conn: 1, ch: 1, bare: true, says: fmt.Sprintf("(%d ms pass)", ms), does: func(p *player, _ *step) {
		p.listen(time.Duration(ms) * time.Millisecond)
		p.settle()
	}}
}
