package session10

import (
	"math"

	"candlemark/actors/client/connevents"
	"candlemark/actors/client/input"
	"candlemark/actors/client/outgoing"
	"candlemark/actors/client/queues"
	"candlemark/actors/client/requests"
	"candlemark/actors/client/rights"
	"candlemark/actors/client/routing"
	"candlemark/actors/client/session10/access"
	"candlemark/actors/client/session10/dialects"
	"candlemark/actors/client/session10/settlement"
	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/client/session10/window"
	"candlemark/actors/client/trace"
	"candlemark/actors/system/mail"
	"candlemark/protocol/amqp10"
	"candlemark/protocol/amqp10/hotpath"
)

// state is the core: it has the links, and distributes mail and frames to the parts.
type state struct {
	base
	queues     queues.Side
	output     output
	receiving  receiving
	settling   settling
	publishing publishing
	answering  answering
	work       work.Session[*link]

	mail           outgoing.Mail
	config         Config
	input          input.Input
	rights         rights.Rights // of the user who logged in
	access         access.Access
	limits         dialects.Limits
	decoder        hotpath.Decoder
	links          map[uint32]*link // by handle, the same in both directions
	attachments    attachments
	temporary      temporaryQueues
	recheck        access.Changes
	consumerEvents connevents.Consumers
}

func (s *state) init(cfg Config) {
	s.config, s.links = cfg, map[uint32]*link{}
	s.input = input.New(input.Config{Clock: cfg.Clock, Out: &s.mail, By: cfg.By, Post: cfg.Post})
	s.base = base{Mail: &s.mail, cfg: &s.config, in: &s.input, counts: &s.queues.Counts, up: s}
	s.rights = rights.Rights{User: cfg.User, VHost: cfg.VHost, Permissions: cfg.Permissions}
	s.queues.Init(queues.Config{
		Input: s.in, Rights: &s.rights, Gate: cfg.Gate, Objects: cfg.Objects, Copies: cfg.Copies, Connection: cfg.Connection, By: cfg.By, Log: cfg.Log,
		Origin: trace.Origin{Node: cfg.Node, VHost: cfg.VHost.Name, Connection: cfg.ConnectionName, User: cfg.User.Name, Channel: cfg.Channel},
	})
	s.access = access.Access{Login: &s.rights, Tokens: cfg.Tokens, Statuses: cfg.Statuses, Clock: cfg.Clock, Count: s.queues.Routes.Count}
	s.limits = dialects.Limits{MaxMessage: cfg.MaxMessage, MaxEntityMessage: cfg.MaxEntityMessage}
	s.output = output{base: &s.base, queues: &s.queues, windows: window.New(cfg.NextOutgoingID, cfg.IncomingWindow), unread: cfg.Unread.Part()}
	s.receiving = receiving{
		base: &s.base, queues: &s.queues, output: &s.output, links: s.links, work: &s.work, temporary: &s.temporary, attachments: &s.attachments,
		recheck: &s.recheck, consumerEvents: &s.consumerEvents,
	}
	s.settling = settling{base: &s.base, queues: &s.queues, output: &s.output, receiving: &s.receiving, links: s.links, work: &s.work, settles: map[uint64]*settlement.Asked[*link]{}}
	s.publishing = publishing{base: &s.base, queues: &s.queues, output: &s.output, links: s.links, access: &s.access, work: &s.work, ask: s.answering.ask}
	client := requests.Client{Rights: &s.rights, Connection: cfg.Connection}
	s.answering = answering{
		base: &s.base, queues: &s.queues, output: &s.output, links: s.links, access: &s.access, limits: &s.limits, client: client,
		consumerEvents: &s.consumerEvents, retry: s.receiving.retryIfRestarting, settle: s.publishing.settle, publish: s.publishing.publishNumbered,
	}
	s.temporary = temporaryQueues{Client: &s.answering.client, Container: cfg.Container, By: cfg.By, Send: s.Send, Ask: s.queues.Request}
	s.attachments.objects = cfg.Objects
	s.consumerEvents = connevents.OfChannel(cfg.Events, cfg.By, cfg.VHost.Name, cfg.ConnectionName, cfg.Channel)
}

// Handle implements shell.Core.
func (s *state) Handle(what any) {
	s.queues.Routes.BeginTurn(s.cfg.Clock)
	switch m := what.(type) {
	case *mail.Inbound:
		s.in.Came(m)
	case *mail.Deliver:
		s.receiving.deliver(m)
	case *mail.EnqueueReply:
		s.publishing.confirmed(m)
	case *mail.Enqueue:
		s.answering.takeReplies(m)
	case *mail.SettleReply:
		s.settling.entitySettled(m)
	case *mail.CreditTaken:
		s.receiving.creditTaken(m)
	case *mail.StepTransaction:
		if m.Step == mail.PrepareTransaction {
			s.in.Park(m)
		} else {
			s.work.Step(m)
		}
	case *mail.ConsumerTimedOut:
		s.receiving.timedOut(m)
	case *mail.PrepareWorkReply:
		s.work.Answered(m.Number(), m.Failure())
	case *mail.DischargeTransactionReply:
		s.work.Discharged(m)
	case *mail.ConsumerCancelled:
		s.receiving.consumerCancelled(m)
	case *mail.DeliveriesRequeued:
		s.settling.returned(m)
	case *mail.OutboxReady:
		s.output.wantsRoom = false
	case *mail.Block, *mail.Unblock:
		_, alarm := m.(*mail.Block)
		s.output.tellWindow(s.output.windows.Shut(alarm))
	case *mail.AccessChanged:
		s.recheck.Add(m.Scopes...)
	case *mail.CloseChannel:
		s.leave()
	case *mail.PeerGone:
		s.queues.Gone(m.Who, s.peerGone)
	case *mail.DescribeChannel:
		s.describe(m)
	case *mail.FindDeliveries:
		s.Send(m.ReplyTo, s.queues.Unacked.Find(m))
	case input.Expired:
		if s.in.Awaits(m.ID) {
			s.fail(amqp10.Errorf(amqp10.InternalError, "no answer within %s", requests.AnswerTimeout))
		}
	case input.Resume:
		s.in.Resume()
	case input.Answer:
		s.answered(m)
	}
	s.output.write()
	s.proceed()
	s.output.write()
	s.queues.Batches.Flush() // traced copies of deliveries
}

// waits reports whether the client's input has to wait: for an answer, or for the client to read.
func (s *state) waits() bool { return s.in.Waits() || s.output.stops() }

// proceed processes input, unless a request is waiting.
func (s *state) proceed() {
	if !s.in.Waits() && s.recheck.Any() {
		s.recheckLinks()
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
		s.receiving.timedOut(m)
	case *mail.Inbound:
		for !s.run(m) {
			if s.output.write(); s.waits() || s.in.Resting() { // otherwise it has written the answers for which the input waited
				return false
			}
		}
	}
	s.output.write()
	return true
}

// answered handles a reply.
func (s *state) answered(reply input.Answer) {
	if consume, is := reply.(*mail.ConsumeReply); !s.in.Answered(reply) && is {
		s.receiving.accepted(consume)
	}
}

// run handles a read. It returns false if a frame has to wait.
func (s *state) run(m *mail.Inbound) bool {
	s.queues.BeginRead()
	if !s.in.Read(m, s.next) {
		s.queues.Flush()
		s.in.Chunk = nil
		return false
	}
	s.queues.Flush()
	s.output.tellWindow(s.output.windows.Renew())
	s.in.Release(m)
	return true
}

// next handles the first frame of b (input.Input.Read).
func (s *state) next(b []byte) int {
	if s.waits() || s.queues.MustRest() {
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
		s.publishing.transfer(m, payload)
	case *amqp10.Disposition:
		s.settling.disposition(m)
	case *amqp10.Flow:
		s.queues.Routes.Count(routing.AnswerSteps)
		s.flow(m)
	case *amqp10.Attach:
		s.queues.Routes.Count(routing.AnswerSteps)
		s.attach(m)
	case *amqp10.Detach:
		s.queues.Routes.Count(routing.AnswerSteps)
		s.detach(m)
	case *amqp10.End:
		s.close()
	default:
		s.failConnection(amqp10.Errorf(amqp10.NotAllowed, "unexpected performative in a session"))
	}
}
