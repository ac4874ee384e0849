package session10

import (
	"errors"
	"math"
	"strconv"

	"candlemark/actors/client/input"
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/peers"
	"candlemark/actors/client/requests"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/trace"
	"candlemark/actors/client/unacked"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/metrics"
	"candlemark/internal/transport/budget"
	"candlemark/internal/transport/seqmap"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// state is the core.
type state struct {
	outgoing.Mail
	cfg     Config
	rights  rights.Rights // of the user who logged in
	access  access.Access
	limits  dialects.Limits
	client  requests.Client
	decoder hotpath.Decoder
	in      input.Input
	windows window.Session
	links   map[uint32]*link // by handle, the same in both directions

	routes         *routing.RouteCache
	batches        routing.Batches
	tracer         trace.Tracer
	eventPublisher eventPublisher
	temporary      temporaryQueues
	long           *routing.Wait // nil for none
	recheck        access.Changes
	peers          peers.QueueLinks
	attachments    attachments
	publishes      settlement.Unconfirmed[*link] // unconfirmed, by publish number
	outcomes       []outcome                     // to be sent

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

	arguments budget.Command // room for the request to a node that runs or waits
	work      work.Session[*link]
}

func (s *state) init(cfg Config) {
	s.cfg, s.unread = cfg, cfg.Unread.Part()
	s.in = input.New(input.Config{Clock: cfg.Clock, Out: &s.Mail, By: cfg.By, Post: cfg.Post})
	s.links, s.settles = map[uint32]*link{}, map[uint64]*settlement.Asked[*link]{}
	s.rights = rights.Rights{User: cfg.User, VHost: cfg.VHost, Permissions: cfg.Permissions}
	s.client = requests.Client{Rights: &s.rights, Connection: cfg.Connection}
	s.peers = peers.New(&s.Mail, cfg.Objects)
	s.batches = routing.NewBatches(&s.Mail, &s.peers,
		&mail.Publisher{User: cfg.User.Name, Tags: cfg.User.Tags, Connection: cfg.Connection, Origin: cfg.By}, cfg.Gate)
	s.routes = routing.NewRoutes(&s.rights, &s.batches)
	s.access = access.Access{Login: &s.rights, Tokens: cfg.Tokens, Statuses: cfg.Statuses, Clock: cfg.Clock, Count: s.routes.Count}
	s.limits = dialects.Limits{MaxMessage: cfg.MaxMessage, MaxEntityMessage: cfg.MaxEntityMessage}
	s.unacked = unacked.New(&s.Mail)
	s.windows = window.New(s.cfg.NextOutgoingID, s.cfg.IncomingWindow)
	s.tracer = trace.Tracer{
		Origin: trace.Origin{Node: cfg.Node, VHost: cfg.VHost.Name, Connection: cfg.ConnectionName, User: cfg.User.Name, Channel: cfg.Channel},
		VHost:  cfg.VHost, Routes: s.routes, Batches: &s.batches, Log: cfg.Log,
	}
	s.temporary = temporaryQueues{Client: &s.client, Container: cfg.Container, By: cfg.By, Send: s.Send, Ask: s.request}
	s.attachments.objects = cfg.Objects
	s.eventPublisher = eventPublisher{
		Events: s.cfg.Events, By: s.cfg.By, VHost: s.cfg.VHost.Name, Channel: s.cfg.ConnectionName + " (" + strconv.Itoa(int(s.cfg.Channel)) + ")",
	}
}

// Handle implements shell.Core.
func (s *state) Handle(what any) {
	s.routes.BeginTurn(s.cfg.Clock)
	switch m := what.(type) {
	case *mail.Inbound:
		s.in.Came(m)
	case *mail.Deliver:
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
			s.in.Park(m)
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
	case input.Expired:
		if s.in.Awaits(m.ID) {
			s.fail(amqp10.Errorf(amqp10.InternalError, "no answer within %s", requests.AnswerTimeout))
		}
	case input.Resume:
		s.in.Resume()
	case input.Answer:
		s.answered(m)
	}
	s.write()
	s.proceed()
	s.write()
	s.batches.Flush() // traced copies of deliveries
}

// waits reports whether the client's input has to wait: for an answer, or for the client to read.
func (s *state) waits() bool { return s.in.Waits() || len(s.replies) > 0 && !s.in.Leaving }

// proceed processes input, unless a request is waiting.
func (s *state) proceed() {
	if !s.in.Waits() && s.recheck.Any() {
		recheckLinks(s)
	}
	s.in.Process(func() bool { return !s.waits() && !s.in.Resting() }, s.parked)
	if s.in.Drained() {
		s.close()
	}
}

// parked processes parked input. It returns false if the rest has to wait.
func (s *state) parked(what any) bool {
	switch m := what.(type) {
	case *mail.StepTransaction:
		s.work.Prepare(m)
	case *mail.ConsumerTimedOut:
		timedOut(s, m)
	case *mail.Inbound:
		for !s.run(m) {
			if s.write(); s.waits() || s.in.Resting() { // otherwise it has written the answers for which the input waited
				return false
			}
		}
	}
	s.write()
	return true
}

// request returns the Request of a command that waits for its answer. Batches for queues are sent first, so that they
// arrive before it.
func (s *state) request(done func(reply any, err error)) mail.Request {
	s.flush()
	return s.in.Await(done)
}

// runInBackground runs work on its own goroutine, and calls done with the result; all later input waits, without time limit.
func (s *state) runInBackground(work func() (any, error), done func(reply any, err error)) {
	id := s.request(done).ID
	s.in.Patient()
	s.in.Go(id, work)
}

// answered handles a reply.
func (s *state) answered(reply input.Answer) {
	if consume, is := reply.(*mail.ConsumeReply); !s.in.Answered(reply) && is {
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

// run handles a read. It returns false if a frame has to wait.
func (s *state) run(m *mail.Inbound) bool {
	s.tracer.On = s.cfg.VHost.Tracing()
	s.routes.BeginRead(s.in.Used.Floor())
	if !s.in.Read(m, s.next) {
		s.flush()
		s.in.Chunk = nil
		return false
	}
	s.flush()
	s.tellWindow(s.windows.Renew())
	s.in.Release(m)
	return true
}

// next handles the first frame of b (input.Input.Read).
func (s *state) next(b []byte) int {
	if s.waits() || s.mustRest() {
		return 0
	}
	f, n, _, err := amqp10.ParseFrame(b, math.MaxUint32)
	if err != nil || n == 0 {
		s.failConnection(amqp10.Errorf(amqp10.InternalError, "the reader let a broken frame pass"))
		return -1
	}
	s.frame(f)
	return n
}

// frame handles one frame.
func (s *state) frame(f amqp10.Frame) {
	if s.in.Phase != input.Open {
		if code, _ := f.Code(); code == amqp10.CodeEnd && s.in.Phase == input.Closing {
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
