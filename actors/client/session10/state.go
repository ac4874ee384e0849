package session10

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/requests"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/batches"

	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/trace"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/routing/message"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/seqmap"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

type phase uint8

const (
	// open: frames are processed.
	open phase = iota
	// closing: the broker has sent end and waits for the client's end.
	closing
	// dead: the connection is being closed because of this session.
	dead
	// ended: all deliveries are returned; the shell stops.
	ended
)

// state is the core.
type state struct {
	outgoing.Mail
	cfg     Config
	rights  rights.Rights // of the user who logged in
	access  access.Access
	client  requests.Client
	decoder hotpath.Decoder
	phase   phase
	leaving bool // the connection is ending; input read before is still processed
	windows window.Session
	links   map[uint32]*link // by handle, the same in both directions

	chunk          *message.Chunk // the chunk of the Inbound being run
	routes         *routing.RouteCache
	batches        routing.Batches
	tracer         trace.Tracer
	eventPublisher eventPublisher
	long           *routing.Wait // nil for none
	yielded        bool          // resumeWork is in the mailbox
	recheck        access.Changes
	peers          peers.QueueLinks
	attachments    attachments
	publishes      batches.Unconfirmed[*link] // unconfirmed, by publish number
	outcomes       []outcome                  // to be sent

	jobs    []func()                            // to be run on goroutines
	settles map[uint64]*settlement.Asked[*link] // unanswered by queues, by request

	elsewhere settlement.Elsewhere

	unacked    unacked.Deliveries
	owners     seqmap.Map[*link] // links of the unacked deliveries, by the same numbers
	arriving   *mail.Enqueue     // the replies being handled, not answered yet
	replyBytes int               // bytes of waiting direct replies
	held       []*writing        // output that waits for the client's window or for room, in order
	sending    sending           // the first of held, partly written
	scratch    []byte

	unread    *budget.Part       // charged with deliveries until they are in the outbox, and with answers; nil for no limit
	replies   []amqp10.Composite // waiting for room; input is stopped until they are written
	wantsRoom bool               // OutboxReady will arrive
	counts    mail.Counts
	published metrics.Published
	used      clock.Instant // when the last frame or delivery came

	await     *await
	arguments budget.Command // room for the request to a node that runs or waits
	asked     uint64         // number of the last request
	parked    []any          // to be run, the first perhaps partly run: Inbound, StepTransaction and ConsumerTimedOut
	work      work.Session[*link]
}

// await is a request that waits for its answer; all later input waits too.
type await struct {
	id   uint64
	done func(reply any, err error)
	// patient: there is no time limit; an answer always comes.
	patient bool
}

// answer is implemented by every reply.
type answer interface {
	Number() uint64
	Failure() error
}

// result is a result of the session's own, for which a request waits.
type result struct {
	id    uint64
	reply any
	err   error
}

// Number implements answer.
func (r *result) Number() uint64 { return r.id }

// Failure implements answer.
func (r *result) Failure() error { return r.err }

func (s *state) init(cfg Config) {
	s.cfg, s.used, s.unread = cfg, cfg.Clock.Now(), cfg.Unread.Part()
	s.links, s.settles = map[uint32]*link{}, map[uint64]*settlement.Asked[*link]{}
	s.rights = rights.Rights{User: cfg.User, VHost: cfg.VHost, Permissions: cfg.Permissions}
	s.client = requests.Client{Rights: &s.rights, Connection: cfg.Connection}
	s.peers = peers.New(&s.Mail, cfg.Objects)
	s.batches = routing.NewBatches(&s.Mail, &s.peers,
		&mail.Publisher{User: cfg.User.Name, Tags: cfg.User.Tags, Connection: cfg.Connection, Origin: cfg.By}, cfg.Gate)
	s.routes = routing.NewRoutes(&s.rights, &s.batches)
	s.access = access.Access{Login: &s.rights, Tokens: cfg.Tokens, Statuses: cfg.Statuses, Clock: cfg.Clock, Count: s.routes.Count}
	s.unacked = unacked.New(&s.Mail)
	s.windows = window.New(s.cfg.NextOutgoingID, s.cfg.IncomingWindow)
	s.tracer = newTracer(s)
	s.eventPublisher = eventPublisher{
		Events: s.cfg.Events, By: s.cfg.By, VHost: s.cfg.VHost.Name, Channel: s.cfg.ConnectionName + " (" + strconv.Itoa(int(s.cfg.Channel)) + ")",
	}
}

// handle is one turn of the core.
func (s *state) handle(what any) {
	s.routes.BeginTurn(s.cfg.Clock)
	switch m := what.(type) {
	case *mail.Inbound:
		s.used = s.cfg.Clock.Now()
		s.parked = append(s.parked, m)
	case *mail.Deliver:
		s.used = s.cfg.Clock.Now()
		s.deliver(m)
	case *mail.EnqueueReply:
		s.confirmed(m)
	case *mail.Enqueue:
		takeReplies(s, m)
	case *mail.SettleReply:
		entitySettled(s, m)
	case *mail.CreditTaken:
		s.creditTaken(m)
	case *mail.StepTransaction:
		if m.Step == mail.PrepareTransaction {
			s.parked = append(s.parked, m)
		} else {
			s.work.Step(m)
		}
	case *mail.ConsumerTimedOut:
		timedOut(s, m)
	case *mail.PrepareWorkReply:
		s.work.Answered(m.Number(), m.Failure())
	case *mail.DischargeTransactionReply:
		s.work.Discharged(m)
	case *mail.ConsumerCancelled:
		s.consumerCancelled(m)
	case *mail.DeliveriesRequeued:
		s.returned(m)
	case *mail.OutboxReady:
		s.wantsRoom = false
	case *mail.Block, *mail.Unblock:
		_, alarm := m.(*mail.Block)
		s.tellWindow(s.windows.Shut(alarm))
	case *mail.AccessChanged:
		s.recheck.Add(m.Scopes...)
	case *mail.CloseChannel:
		s.leave()
	case *mail.PeerGone:
		s.peerGone(m.Who)
	case *mail.DescribeChannel:
		describe(s, m)
	case *mail.FindDeliveries:
		s.Send(m.ReplyTo, s.unacked.Find(m))
	case awaitExpired:
		expired(s, m)
	case resumeWork:
		s.yielded = false
	case answer:
		s.answered(m)
	}
	s.write()
	s.proceed()
	s.write()
	s.batches.Flush() // traced copies of deliveries
}

// expired fails the session if the answer that it waited for is still missing.
func expired(s *state, m awaitExpired) {
	if s.await != nil && s.await.id == m.id {
		s.fail(amqp10.Errorf(amqp10.InternalError, "no answer within %s", requests.AnswerTimeout))
	}
}

// waits reports whether the client's input has to wait: for an answer, or for the client to read.
func (s *state) waits() bool { return s.await != nil || len(s.replies) > 0 && !s.leaving }

// proceed processes input, unless a request is waiting.
func (s *state) proceed() {
	n := 0
	if s.await == nil && s.recheck.Any() {
		recheckLinks(s)
	}
	for n < len(s.parked) && !s.waits() && !s.yielded {
		switch m := s.parked[n].(type) {
		case *mail.StepTransaction:
			s.work.Prepare(m)
			n++
		case *mail.ConsumerTimedOut:
			timedOut(s, m)
			n++
		case *mail.Inbound:
			if s.run(m) {
				n++
			}
		}
		s.write()
	}
	s.parked = slices.Delete(s.parked, 0, n)
	if s.leaving && !s.waits() && len(s.parked) == 0 {
		s.close()
	}
}

// request returns the Request of a command that waits for its answer. Batches for queues are sent first, so that they
// arrive before it.
func (s *state) request(done func(reply any, err error)) mail.Request {
	s.flush()
	s.asked++
	s.await = &await{id: s.asked, done: done}
	return mail.Request{ReplyTo: s.Self(), ID: s.asked, By: s.cfg.By}
}

// runInBackground runs work on its own goroutine, and calls done with the result; all later input waits, without time limit.
func (s *state) runInBackground(work func() (any, error), done func(reply any, err error)) {
	id := s.request(done).ID
	s.await.patient = true
	self, post := s.Self(), s.cfg.Post
	s.jobs = append(s.jobs, func() {
		reply, err := work()
		post(self, &result{id, reply, err})
	})
}

// answered ends the wait of a request.
func (s *state) answered(reply answer) {
	if a := s.await; a != nil && a.id == reply.Number() {
		s.await = nil
		if own, ok := reply.(*result); ok {
			a.done(own.reply, own.err)
			return
		}
		a.done(reply, reply.Failure())
	} else if consume, is := reply.(*mail.ConsumeReply); is {
		accepted(s, consume)
	}
}

// retryIfRestarting reports whether err means that a queue ended before it saw a request; if so, it asks the virtual host about
// the queue, and calls again after the answer.
func (s *state) retryIfRestarting(err error, again func()) bool {
	var missed *mail.Missed
	if !errors.As(err, &missed) {
		return false
	}
	s.Send(s.cfg.VHost.PID, &mail.AwaitQueue{
		Request: s.request(func(_ any, err error) {
			if err != nil {
				s.fail(err)
				return
			}
			again()
		}),
		Name: missed.Queue, VHost: s.cfg.VHost.Name,
	})
	return true
}

// run handles the frames of m in order. If one has to wait, it returns false with the rest left in m; otherwise m is
// released.
func (s *state) run(m *mail.Inbound) bool {
	s.chunk = m.Chunk
	s.routes.BeginRead(s.used.Floor())
	s.tracer.On = s.cfg.VHost.Tracing()
	for len(m.Runs) > 0 {
		if len(m.Runs[0]) == 0 {
			m.Runs = m.Runs[1:]
			continue
		}
		if s.waits() || s.mustRest() {
			s.flush()
			s.chunk = nil
			return false
		}
		f, n, _, err := amqp10.ParseFrame(m.Runs[0], math.MaxUint32)
		if err != nil || n == 0 {
			s.failConnection(amqp10.Errorf(amqp10.InternalError, "the reader let a broken frame pass"))
			m.Runs = nil
			break
		}
		m.Runs[0] = m.Runs[0][n:]
		s.frame(f)
	}
	s.flush()
	s.tellWindow(s.windows.Renew())
	s.chunk = nil
	m.Chunk.Release()
	m.Chunk = nil
	return true
}

// frame handles one frame.
func (s *state) frame(f amqp10.Frame) {
	if s.phase != open {
		if code, _ := f.Code(); code == amqp10.CodeEnd && s.phase == closing {
			s.close()
		}
		return
	}
	p, payload, err := s.decoder.Decode(f)
	if err != nil {
		s.failConnection(err)
		return
	}
	switch m := p.(type) {
	case *amqp10.Transfer:
		s.transfer(m, payload)
	case *amqp10.Disposition:
		s.disposition(m)
	case *amqp10.Flow:
		s.routes.Count(routing.AnswerSteps)
		s.flow(m)
	case *amqp10.Attach:
		s.routes.Count(routing.AnswerSteps)
		s.attach(m)
	case *amqp10.Detach:
		s.routes.Count(routing.AnswerSteps)
		s.detach(m)
	case *amqp10.End:
		s.close()
	default:
		s.failConnection(amqp10.Errorf(amqp10.NotAllowed, "unexpected performative in a session"))
	}
}

// flush sends the turn's publishes and settlements to queues.
func (s *state) flush() {
	s.routes.FlushAll()
	s.unacked.Flush()
}
