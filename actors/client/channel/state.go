package channel

import (
	"errors"
	"slices"
	"sync/atomic"

	"candlemark/actors/client/channel/assembler"
	"candlemark/actors/client/channel/confirms"
	"candlemark/actors/client/channel/output"
	"candlemark/actors/client/channel/replies"
	"candlemark/actors/client/channel/tx"
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/requests"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/trace"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/protocol"
)

type phase uint8

const (
	// open: input is processed.
	open phase = iota
	// closing: channel.close was sent, and close-ok is awaited.
	closing
	// dead: the connection is being closed because of this channel.
	dead
	// ended: all deliveries are returned; the shell stops.
	ended
)

// state is the core.
type state struct {
	outgoing.Mail
	cfg     Config
	events  eventPublisher
	rights  rights.Rights
	client  requests.Client
	phase   phase
	leaving bool // the connection is ending; input read before is still processed
	// closeMethod is the channel.close for this turn's exception, until it is sent.
	closeMethod *protocol.ChannelClose

	assembler assembler.Assembler
	decided   func(number uint64, granted bool) // sends a decision to the channel
	chunk     *message.Chunk                    // the chunk of the Inbound being run
	routes    *routing.RouteCache
	batches   routing.Batches
	long      *long // the search in progress, nil for none
	yielded   bool  // resumeWork is in the mailbox
	tracer    trace.Tracer
	confirms  confirms.Confirms
	tx        *tx.Tx // nil if the channel is not transactional

	consumers map[string]*output.Consumer
	replies   replies.Consumer
	peers     peers.QueueLinks
	unacked   unacked.Deliveries
	prefetch  int // for new consumers
	counts    mail.Counts
	published metrics.Published
	used      clock.Instant // when the last frame or delivery came
	output    output.Output
	unread    *budget.Part // charged with deliveries until they are in the outbox; nil for no limit

	await     *await
	arguments budget.Command  // room for the arguments of the command that runs or waits
	asked     uint64          // number of the last command that waited
	parked    []*mail.Inbound // to be run, the first perhaps partly run
}

// await is a command that waits for its answer; all later input waits too.
type await struct {
	id     uint64 // 0 if it waits for room for a content or for arguments, without time limit
	room   uint64 // number of the request for room
	method protocol.Method
	// done is called with a reply without error.
	done func(reply any)
	// patient: there is no time limit; an answer always comes.
	patient bool
	charged int64 // bytes that the connection's objects are charged with until the answer
}

// answer is implemented by every reply.
type answer interface {
	Number() uint64
	Failure() error
}

func (s *state) init(cfg Config) {
	s.cfg, s.used, s.events = cfg, cfg.Clock.Now(), eventPublisher{&s.cfg}
	if cfg.Replies == nil {
		s.cfg.Replies = new(atomic.Int64)
	}
	s.unread = cfg.Unread.Part()
	s.rights = rights.Rights{User: cfg.User, VHost: cfg.VHost, Permissions: cfg.Permissions}
	s.client = requests.Client{Rights: &s.rights, Connection: cfg.Connection}
	s.replies = replies.New(cfg.VHost, &s.output)
	s.peers = peers.New(&s.Mail, cfg.Objects)
	s.batches = routing.NewBatches(&s.Mail, &s.peers,
		&mail.Publisher{User: cfg.User.Name, Tags: cfg.User.Tags, Connection: cfg.Connection, Origin: cfg.By}, cfg.Gate)
	s.routes = routing.NewRoutes(&s.rights, &s.batches)
	s.tracer = trace.Tracer{
		Origin: trace.Origin{Node: cfg.Node, VHost: cfg.VHost.Name, Connection: cfg.ConnectionName, User: cfg.User.Name, Channel: cfg.ID},
		VHost:  cfg.VHost, Routes: s.routes, Batches: &s.batches, Log: cfg.Log,
	}
	s.unacked = unacked.New(&s.Mail)
	s.consumers = map[string]*output.Consumer{}
	s.output = output.New(output.Config{
		Outbox: cfg.Outbox, ID: cfg.ID, FrameMax: cfg.FrameMax, Gate: cfg.Gate, Replies: s.cfg.Replies, Unread: s.unread, Log: cfg.Log,
		Ready: func() { s.cfg.Post(s.Self(), &mail.OutboxReady{}) }, VHost: cfg.VHost, Trace: s.traceDeliveries,
	}, &s.Mail, &s.unacked, &s.counts)
	s.decided = func(number uint64, granted bool) { s.cfg.Post(s.Self(), decision{number, granted}) }
}

// handle is one turn of the core.
func (s *state) handle(received any) {
	s.routes.BeginTurn(s.cfg.Clock)
	switch m := received.(type) {
	case *mail.Inbound:
		s.used = s.cfg.Clock.Now()
		s.parked = append(s.parked, m)
	case *mail.Deliver:
		s.used = s.cfg.Clock.Now()
		s.deliver(m)
	case *mail.EnqueueReply:
		s.settled(m)
	case *mail.SettleReply:
		if s.tx != nil && s.tx.Settled(m.Failure()) {
			s.committed(s.await.method)
		}
	case *mail.Enqueue:
		s.Send(m.Answer(s.replies.Take(m)))
	case *mail.QosOffer:
		if p := s.peers.Find(m.Queue); p != nil {
			s.unacked.Limit.Offered(&p.Queue.Queue, m.Messages)
		}
	case *mail.QosUnused:
		if p := s.peers.Find(m.Queue); p != nil {
			s.unacked.Limit.Unused(&p.Queue.Queue, m.Messages)
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
		s.peerGone(m.Who)
	case decision:
		s.decide(m)
	case *mail.DescribeChannel:
		s.describe(m)
	case *mail.FindDeliveries:
		s.Send(m.ReplyTo, s.unacked.Find(m))
	case awaitExpired:
		if s.await != nil && s.await.id == m.id {
			s.fail(internalError("no answer to %s within %s", s.await.method.Key().String(), requests.AnswerTimeout), s.await.method)
		}
	case resumeWork:
		s.yielded = false
		s.endTx()
	case answer:
		s.answered(m)
	}
	s.proceed()
}

// waits reports whether the client's input has to wait: for an answer, or for the client to read.
func (s *state) waits() bool { return s.await != nil || s.output.Stops() }

// proceed processes input, unless a command is waiting.
func (s *state) proceed() {
	n := 0
	for n < len(s.parked) && !s.waits() && s.run(s.parked[n]) {
		n++
	}
	s.parked = slices.Delete(s.parked, 0, n)
	if s.leaving && !s.waits() && len(s.parked) == 0 {
		s.close(false)
	}
}

// request returns the Request of a command that waits for its answer. Batches for queues are sent first, so that they
// arrive before the command (PRO-5).
func (s *state) request(m protocol.Method, done func(reply any)) mail.Request {
	s.flush()
	s.asked++
	s.await = &await{id: s.asked, method: m, done: done}
	return mail.Request{ReplyTo: s.Self(), ID: s.asked, By: s.cfg.By}
}

// charge charges the connection's objects for the command that waits, so that commands of other channels find less room
// until it is done (PRO-21).
func (s *state) charge(bytes int64) {
	s.await.charged = bytes
	s.cfg.Objects.Hold(bytes)
}

func (s *state) endWait() {
	if s.await != nil {
		s.cfg.Objects.Hold(-s.await.charged)
	}
	s.await = nil
}

// answered ends the wait of a command.
func (s *state) answered(reply answer) {
	a := s.await
	if a == nil || a.id != reply.Number() {
		return
	}
	s.endWait()
	err := reply.Failure()
	if missed := (*mail.Missed)(nil); errors.As(err, &missed) {
		s.again(a.method, missed.Queue)
		return
	}
	s.arguments.Return()
	if err != nil {
		s.fail(err, a.method)
		return
	}
	a.done(reply)
}

// again repeats a command whose mail missed its queue, when the virtual host reports that the queue is back or does not
// exist.
func (s *state) again(m protocol.Method, queue string) {
	s.Send(s.cfg.VHost.PID, &mail.AwaitQueue{
		Request: s.request(m, func(any) {
			if err := s.command(m); err != nil {
				s.fail(err, m)
			}
		}),
		Name: queue, VHost: s.cfg.VHost.Name,
	})
}
