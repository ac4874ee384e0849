package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"candlemark/actors/system/mail"
	"candlemark/integration/testkit"
	"candlemark/policies"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cockroachdb/datadriven"
)

// command is one line. Words and options are removed as they are read; leftover ones are errors.
type command struct {
	*stage
	pos    string
	who    string
	args   []datadriven.CmdArg // with values
	words  []string            // without values
	client *client
}

// verbs are the clients' commands. They take words in this order, and options.
var verbs = map[string]func(c *command){
	"declare":  (*command).declare,  // QUEUE [durable] [exclusive] [auto-delete] [x-…=…]
	"check":    (*command).check,    // QUEUE: a passive declare, which shows the number of ready messages
	"exchange": (*command).exchange, // NAME TYPE [x-…=…]
	"bind":     (*command).bind,     // QUEUE EXCHANGE/KEY
	"publish":  (*command).publish,  // DESTINATION BODY… [persistent] [mandatory] [expiration=] [priority=] [id=] [x-…=…]
	"get":      (*command).get,      // QUEUE [unacked]
	"consume":  (*command).consume,  // QUEUE [no-ack] [prefetch=] [x-…=…]
	"cancel":   (*command).cancel,   // QUEUE
	"ack":      (*command).ack,      // BODY…
	"reject":   (*command).reject,   // BODY…
	"requeue":  (*command).requeue,  // BODY…
	"purge":    (*command).purge,    // QUEUE
	"delete":   (*command).delete,   // QUEUE
	"close":    (*command).close,    // closes the channel
	"leave":    (*command).leave,    // closes the connection
	"vanish":   (*command).vanish,   // cuts the connection
}

// operations are the commands to the broker.
var operations = map[string]func(c *command){
	"wait":            func(c *command) { c.Advance(c.duration()) },
	"restart":         (*command).restart,
	"crash":           (*command).crash,
	"show":            (*command).show,
	"policy":          func(c *command) { c.policy(false) },
	"operator-policy": func(c *command) { c.policy(true) },
	"clear-policy":    func(c *command) { c.ClearPolicy(c.word("a name")) },
}

// positional removes the words without values from the arguments.
func (c *command) positional() (words []string) {
	c.args = slices.DeleteFunc(slices.Clone(c.args), func(a datadriven.CmdArg) bool {
		if len(a.Vals) == 0 {
			words = append(words, a.Key)
		}
		return len(a.Vals) == 0
	})
	return words
}

// word removes and returns the next word.
func (c *command) word(what string) string {
	if len(c.words) == 0 {
		c.Fatalf("%s: %s is missing", c.pos, what)
	}
	first := c.words[0]
	c.words = c.words[1:]
	return first
}

// flag removes a word at any position, and reports whether it was present.
func (c *command) flag(name string) bool {
	i := slices.Index(c.words, name)
	if i >= 0 {
		c.words = slices.Delete(c.words, i, i+1)
	}
	return i >= 0
}

// option removes an option and returns its value, "" if it is missing.
func (c *command) option(name string) (value string) {
	c.args = slices.DeleteFunc(c.args, func(a datadriven.CmdArg) bool {
		if a.Key == name {
			value = strings.Join(a.Vals, ",")
		}
		return a.Key == name
	})
	return value
}

func (c *command) number(name string) int {
	text := c.option(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		c.Fatalf("%s: %v", c.pos, err)
	}
	return n
}

func (c *command) duration() time.Duration {
	d, err := time.ParseDuration(c.word("a duration"))
	if err != nil {
		c.Fatalf("%s: %v", c.pos, err)
	}
	return d
}

// table takes the options that begin with x-, and lists.
func (c *command) table() amqp.Table {
	table := amqp.Table{}
	c.args = slices.DeleteFunc(c.args, func(a datadriven.CmdArg) bool {
		list := a.Key == "CC" || a.Key == "BCC"
		switch {
		case list:
			keys := []any{}
			for _, key := range a.Vals {
				keys = append(keys, key)
			}
			table[a.Key] = keys
		case strings.HasPrefix(a.Key, "x-"):
			table[a.Key] = value(a.Vals[0])
		}
		return list || strings.HasPrefix(a.Key, "x-")
	})
	return table
}

func value(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

func (c *command) declare() {
	durable, exclusive, autoDelete := c.flag("durable"), c.flag("exclusive"), c.flag("auto-delete")
	args := c.table()
	if c.dialect == azure { // otherwise messages are locked for a minute (LOCK-11)
		args["x-consumer-timeout"] = int64(315360000000)
	}
	_, err := c.client.ch.QueueDeclare(c.word("a queue"), durable, autoDelete, exclusive, false, args)
	c.client.try(err)
}

func (c *command) check() {
	queue := c.word("a queue")
	q, err := c.client.ch.QueueDeclarePassive(queue, false, false, false, false, nil)
	if c.client.try(err) {
		c.client.see(answer, queue, fmt.Sprint("has ", q.Messages, " ready"), "")
	}
}

func (c *command) exchange() {
	name, kind := c.word("a name"), c.word("a type")
	c.client.try(c.client.ch.ExchangeDeclare(name, kind, c.flag("durable"), false, false, false, c.table()))
}

func (c *command) bind() {
	queue := c.word("a queue")
	exchange, key := destination(c.word("EXCHANGE/KEY"))
	c.client.try(c.client.ch.QueueBind(queue, key, exchange, false, nil))
}

func (c *command) publish() {
	exchange, key := destination(c.word("a destination"))
	m := amqp.Publishing{Expiration: c.option("expiration"), Priority: uint8(c.number("priority")), MessageId: c.option("id"), Headers: c.table()}
	if c.flag("persistent") {
		m.DeliveryMode = amqp.Persistent
	}
	mandatory := c.flag("mandatory")
	if c.dialect != amqp091 {
		c.client.send(exchange, key, m, c.words)
		c.words = nil
		return
	}
	c.client.published = append(c.client.published, c.words...)
	for len(c.words) > 0 {
		m.Body = []byte(c.word("a body"))
		c.client.ch.Begin(exchange, key, mandatory, m)
	}
}

func (c *command) get() {
	unacked, queue := c.flag("unacked"), c.word("a queue")
	if c.dialect != amqp091 {
		c.client.take(queue, unacked)
		return
	}
	d, ok, err := c.client.ch.Get(queue, !unacked)
	switch {
	case !c.client.try(err):
	case !ok:
		c.client.see(answer, queue, "is empty", "")
	default:
		c.client.got(answer, queue, d, unacked, fmt.Sprintf(" (%d left)", d.MessageCount))
	}
}

func (c *command) consume() {
	client, noAck, prefetch := c.client, c.flag("no-ack"), c.number("prefetch")
	queue := c.word("a queue")
	if c.dialect != amqp091 {
		client.attach(queue, noAck, prefetch, c.table())
		return
	}
	client.try(client.ch.Qos(prefetch, 0, false))
	client.tags[queue] = fmt.Sprintf("%s of %s", queue, client.name)
	deliveries, err := client.ch.Consume(queue, client.tags[queue], noAck, false, false, false, c.table())
	if !client.try(err) {
		return
	}
	go func() {
		for d := range deliveries {
			client.got(delivered, queue, d, !noAck, "")
		}
	}()
}

func (c *command) cancel() {
	queue := c.word("a queue")
	if c.dialect != amqp091 {
		c.client.detach(queue)
		return
	}
	c.client.try(c.client.ch.Cancel(c.client.tags[queue], false))
}

// settle settles the deliveries of the named messages.
func (c *command) settle(to fate) {
	for len(c.words) > 0 {
		body := c.word("a body")
		settle, ok := c.client.unacked.LoadAndDelete(body)
		if !ok && c.recovery != nil {
			panic(unable("has no unacked " + body))
		}
		if !ok {
			c.Fatalf("%s: %s has no unacked %q", c.pos, c.who, body)
		}
		c.client.try(settle.(func(fate) error)(to))
	}
}

func (c *command) ack()     { c.settle(accept) }
func (c *command) reject()  { c.settle(reject) }
func (c *command) requeue() { c.settle(requeue) }

func (c *command) purge() {
	n, err := c.client.ch.QueuePurge(c.word("a queue"), false)
	if c.client.try(err) {
		c.client.see(answer, "purged", strconv.Itoa(n), "")
	}
}

func (c *command) delete() {
	n, err := c.client.ch.QueueDelete(c.word("a queue"), false, false, false)
	if c.client.try(err) {
		c.client.see(answer, "deleted with", strconv.Itoa(n), "")
	}
}

func (c *command) close() {
	c.client.endSession()
	c.client.try(c.client.ch.Close())
}

func (c *command) leave() {
	c.client.hangUp()
	c.client.conn.Leave()
	delete(c.clients, c.who)
}

func (c *command) vanish() {
	c.client.hangUp()
	c.client.conn.Cut()
	delete(c.clients, c.who)
}

func (c *command) restart() { c.stage.restart(c.duration()) }

func (s *stage) restart(off time.Duration) {
	left := s.clients
	s.clients = map[string]*client{}
	s.Restart(off)
	for _, client := range left {
		client.hangUp()
	}
}

func (c *command) crash() { c.stage.crash(c.duration()) }

func (s *stage) crash(off time.Duration) {
	if s.recovery != nil {
		s.stores.crash()
		s.Log.Allow("definition could not be", "journal") // by what still writes
	}
	for _, client := range s.clients {
		client.conn.Cut() // connections are cut without a close
		client.hangUp()
	}
	clear(s.clients)
	if s.recovery != nil {
		s.Abandon(off)
	} else {
		s.Crash(off)
	}
}

// show lists all queues as the broker describes them.
func (c *command) show() {
	none := true
	for q := range c.VHost().Directory().Queues() {
		info := c.Describe(q.Name)
		none = false
		text := fmt.Sprintf("%s: %d ready, %d unacked", q.Name, info.Ready, info.Unacked)
		if n := info.Scheduled.Count; n > 0 {
			text += fmt.Sprintf(", %d scheduled", n)
		}
		c.operator(text)
	}
	if none {
		c.operator("no queues")
	}
}

func (c *command) operator(text string) {
	c.seen <- sight{at: c.Elapsed() - c.begin, who: "operator", what: text}
}

// policy sets a policy: all options except three belong to its definition.
func (c *command) policy(operator bool) {
	name := c.word("a name")
	body := map[string]any{"pattern": c.option("pattern"), "priority": c.number("priority")}
	if to := c.option("apply-to"); to != "" {
		body["apply-to"] = to
	}
	definition := map[string]any{}
	for _, a := range c.args {
		definition[a.Key] = value(a.Vals[0])
	}
	c.args, body["definition"] = nil, definition
	text, err := json.Marshal(body)
	if err != nil {
		c.Fatalf("%s: %v", c.pos, err)
	}
	p, err := policies.Parse("/", name, operator, text)
	if err != nil {
		c.Fatalf("%s: %v", c.pos, err)
	}
	reply := testkit.Ask[*mail.PolicyReply](c.Bubble, c.Actor("policies"), func(r mail.Request) any {
		return &mail.SetPolicy{Request: r, Policy: p, Operator: operator}
	})
	if reply.Err != nil {
		c.Fatalf("%s: %v", c.pos, reply.Err)
	}
}
