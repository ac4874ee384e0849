package channel

import (
	"errors"
	"sync/atomic"

	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/client/channel/confirms"
	"candlemark/actors/client/channel/output"
	"candlemark/actors/client/channel/replies"
	"candlemark/actors/client/channel/tx"
	"candlemark/actors/client/connevents"
	"candlemark/actors/client/input"
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/requests"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/trace"
	"candlemark/actors/system/mail"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

// state is the core.
type state struct {
	mail   outgoing.Mail
	cfg    Config
	events connevents.Consumers
	rights rights.Rights
	client requests.Client
	// closeMethod is the channel.close for this turn's exception, until it is sent.
	closeMethod *protocol.ChannelClose

	assembler assembler.Assembler
	decided   func(number uint64, granted bool) // sends a decision to the channel
	queues    queues.Side
	confirms  confirms.Confirms
	tx        *tx.Tx // nil if the channel is not transactional

	consumers map[string]*output.Consumer
	replies   replies.Consumer
	prefetch  int // for new consumers
	output    output.Output
	unread    *budget.Part // charged with deliveries until they are in the outbox; nil for no limit

	in        input.Input
	waiting   waiting
	arguments budget.Command // room for the arguments of the command that runs or waits
	// concludes is the method concluded.
	concludes func(reply any, err error)
}

// waiting is the command for whose answer the input waits.
type waiting struct {
	method  protocol.Method
	done    func(reply any) // called with a reply without error
	room    bool            // it waits for room for a content or for arguments instead
	charged int64           // bytes that the connection's objects are charged with until the answer
}

func (s *state) init(cfg Config) {
	s.cfg, s.concludes = cfg, s.concluded
	s.events = connevents.OfChannel(cfg.Events, cfg.By, cfg.VHost.Name, cfg.ConnectionName, cfg.ID)
	s.in = input.New(input.Config{Clock: cfg.Clock, Out: &s.mail, By: cfg.By, Post: cfg.Post})
	if cfg.Replies == nil {
		s.cfg.Replies = new(atomic.Int64)
	}
	s.unread = cfg.Unread.Part()
	s.rights = rights.Rights{User: cfg.User, VHost: cfg.VHost, Permissions: cfg.Permissions}
	s.client = requests.Client{Rights: &s.rights, Connection: cfg.Connection}
	s.replies = replies.New(cfg.VHost, &s.output)
	s.queues.Init(queues.Config{
		Input: &s.in, Rights: &s.rights, Gate: cfg.Gate, Objects: cfg.Objects, Copies: cfg.Copies, Connection: cfg.Connection, By: cfg.By, Log: cfg.Log,
		Origin: trace.Origin{Node: cfg.Node, VHost: cfg.VHost.Name, Connection: cfg.ConnectionName, User: cfg.User.Name, Channel: cfg.ID},
	})
	s.consumers = map[string]*output.Consumer{}
	s.output = output.New(output.Config{
		Outbox: cfg.Outbox, ID: cfg.ID, FrameMax: cfg.FrameMax, Gate: cfg.Gate, Replies: s.cfg.Replies, Unread: s.unread, Log: cfg.Log,
		Ready: func() { s.cfg.Post(s.mail.Self(), &mail.OutboxReady{}) }, VHost: cfg.VHost, Trace: func(queue string, items []mail.Delivery) { s.queues.TraceDeliveries(queue, items, s.output.HeaderOf) },
	}, &s.mail, &s.queues.Unacked, &s.queues.Counts)
	s.decided = func(number uint64, granted bool) { s.cfg.Post(s.mail.Self(), decision{number, granted}) }
}

// Handle implements shell.Core.
func (s *state) Handle(received any) {
	s.queues.Routes.BeginTurn(s.cfg.Clock)
	switch m := received.(type) {
	case *mail.Inbound:
		s.in.Came(m)
	case *mail.Deliver:
		s.deliver(m)
	case *mail.EnqueueReply:
		s.settled(m)
	case *mail.SettleReply:
		if s.tx != nil && s.tx.Settled(m.Failure()) {
			s.committed(s.waiting.method)
		}
	case *mail.Enqueue:
		s.mail.Send(m.Answer(s.replies.Take(m)))
	case *mail.QosOffer:
		if p := s.queues.Peers.Find(m.Queue); p != nil {
			s.queues.Unacked.Limit.Offered(&p.Queue.Queue, m.Messages)
		}
	case *mail.QosUnused:
		if p := s.queues.Peers.Find(m.Queue); p != nil {
			s.queues.Unacked.Limit.Unused(&p.Queue.Queue, m.Messages)
		}
	case *mail.ConsumerCancelled:
		s.consumerCancelled(m)
	case *mail.DeliveriesRequeued:
		s.requeued(m)
	case *mail.OutboxReady:
		s.output.HasRoom()
		s.sendConfirms()
		s.output.Resume()
	case *mail.CloseChannel:
		s.leave()
	case *mail.PeerGone:
		s.queues.Gone(m.Who, s.peerGone)
	case decision:
		s.decide(m)
	case *mail.DescribeChannel:
		s.describe(m)
	case *mail.FindDeliveries:
		s.mail.Send(m.ReplyTo, s.queues.Unacked.Find(m))
	case input.Expired:
		if m := s.waiting.method; s.in.Awaits(received.(input.Expired).ID) {
			s.fail(internalError("no answer to %s within %s", m.Key().String(), requests.AnswerTimeout), m)
		}
	case input.Resume:
		s.in.Resume()
		s.endTx()
	case input.Answer:
		s.in.Answered(m)
	}
	s.proceed()
}

// waits reports whether the client's input has to wait: for an answer, or for the client to read.
func (s *state) waits() bool { return s.in.Waits() || s.output.Stops() }

// proceed processes input, unless a command is waiting.
func (s *state) proceed() {
	s.in.Process(func() bool { return !s.waits() }, func(m any) bool { return s.run(m.(*mail.Inbound)) })
	if s.in.Drained() && !s.output.Stops() {
		s.close(false)
	}
}

// request returns the Request of a command that waits for its answer. Batches for queues are sent first, so that they
// arrive before the command (PRO-5).
func (s *state) request(m protocol.Method, done func(reply any)) mail.Request {
	s.waiting = waiting{method: m, done: done}
	return s.queues.Request(s.concludes)
}

// charge charges the connection's objects for the command that waits, so that commands of other channels find less room
// until it is done (PRO-21).
func (w *waiting) charge(objects *budget.Holder, bytes int64) {
	w.charged = bytes
	objects.Hold(bytes)
}

func (s *state) endWait() {
	s.cfg.Objects.Hold(-s.waiting.charged)
	s.waiting = waiting{}
	s.in.EndWait()
}

// concluded handles the answer to the command that waited.
func (s *state) concluded(reply any, err error) {
	w := s.waiting
	s.endWait()
	if missed := (*mail.Missed)(nil); errors.As(err, &missed) {
		s.again(w.method, missed.Queue)
		return
	}
	s.arguments.Return()
	if err != nil {
		s.fail(err, w.method)
		return
	}
	w.done(reply)
}

// again repeats a command whose mail missed its queue, when the virtual host reports that the queue is back or does not
// exist.
func (s *state) again(m protocol.Method, queue string) {
	s.mail.Send(s.cfg.VHost.PID, &mail.AwaitQueue{
		Request: s.request(m, func(any) {
			if err := s.command(m); err != nil {
				s.fail(err, m)
			}
		}),
		Name: queue, VHost: s.cfg.VHost.Name,
	})
}
