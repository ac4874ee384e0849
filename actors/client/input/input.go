package input

import (
	"slices"

	"candlemark/actors/client/outgoing"
	"candlemark/actors/system/mail"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/routing/message"
)

// Phase is the progress of a channel or session.
type Phase uint8

// The phases.
const (
	Open    Phase = iota // input is processed
	Closing              // the broker has ended it, and waits for the client's answer
	Dead                 // the connection is being closed because of it
	Ended                // all deliveries are returned; the shell stops
)

// Answer is implemented by every reply.
type Answer interface {
	Number() uint64
	Failure() error
}

// Result is a result of the actor's own, for which a request waits.
type Result struct {
	ID    uint64
	Reply any
	Err   error
}

// Number implements Answer.
func (r *Result) Number() uint64 { return r.ID }

// Failure implements Answer.
func (r *Result) Failure() error { return r.Err }

// Mail of the actor to itself.
type (
	// Expired: the request with this number was not answered in time.
	Expired struct{ ID uint64 }
	// Resume: a turn ended before all input was processed.
	Resume struct{}
)

// Config configures an Input.
type Config struct {
	Clock *clock.Clock
	Out   *outgoing.Mail
	By    *events.Origin               // the client, for requests
	Post  func(to mail.Address, m any) // sends mail from any goroutine
}

// New returns the input of a channel or session that begins now.
func New(cfg Config) Input { return Input{Config: cfg, Used: cfg.Clock.Now()} }

// Input is the input of a channel or session.
type Input struct {
	Config
	Phase   Phase
	Leaving bool           // the connection is ending; input read before is still processed
	Chunk   *message.Chunk // of the Inbound being run, nil for none
	Used    clock.Instant  // when the last frame or delivery came

	parked  []any // the first perhaps partly run
	resting bool  // Resume is in the mailbox
	numbers uint64
	waits   bool
	patient bool
	current uint64 // number of the request that waits
	done    func(reply any, err error)
	jobs    []func()
}

// Came adds what was read from the socket.
func (in *Input) Came(m *mail.Inbound) {
	in.Use()
	in.Park(m)
}

// Use sets Used to the present.
func (in *Input) Use() { in.Used = in.Clock.Now() }

// Park adds input.
func (in *Input) Park(m any) { in.parked = append(in.parked, m) }

// Parked returns how much input waits.
func (in *Input) Parked() int { return len(in.parked) }

// Waits reports whether a request waits for its answer; all later input waits too.
func (in *Input) Waits() bool { return in.waits }

// Due returns the number of the request whose answer is due within a time limit, 0 for none.
func (in *Input) Due() uint64 {
	if !in.waits || in.patient {
		return 0
	}
	return in.current
}

// Number returns a new number.
func (in *Input) Number() uint64 {
	in.numbers++
	return in.numbers
}

// Next returns the number that Number will return.
func (in *Input) Next() uint64 { return in.numbers + 1 }

// Request returns a Request for whose answer nothing waits.
func (in *Input) Request() mail.Request {
	return mail.Request{ReplyTo: in.Out.Self(), ID: in.Number(), By: in.By}
}

// Await returns a Request, and makes input wait until it is answered. done, unless nil, is called with the answer.
func (in *Input) Await(done func(reply any, err error)) mail.Request {
	r := in.Request()
	in.waits, in.patient, in.current, in.done = true, false, r.ID, done
	return r
}

// Patient removes the time limit of the request that waits: an answer always comes.
func (in *Input) Patient() { in.patient = true }

// Hold makes input wait without time limit, for the last number, until EndWait.
func (in *Input) Hold() { in.waits, in.patient, in.current, in.done = true, true, in.numbers, nil }

// Awaits reports whether input waits for that number.
func (in *Input) Awaits(number uint64) bool { return in.waits && in.current == number }

// EndWait ends the wait without an answer.
func (in *Input) EndWait() { in.waits, in.done = false, nil }

// Answered ends the wait if reply is the awaited answer, otherwise it returns false.
func (in *Input) Answered(reply Answer) bool {
	if !in.Awaits(reply.Number()) {
		return false
	}
	done := in.done
	in.EndWait()
	switch own, ok := reply.(*Result); {
	case done == nil:
	case ok:
		done(own.Reply, own.Err)
	default:
		done(reply, reply.Failure())
	}
	return true
}

// Go runs work on its own goroutine after the turn, and answers a request with the result.
func (in *Input) Go(id uint64, work func() (any, error)) {
	self, post := in.Out.Self(), in.Post
	in.jobs = append(in.jobs, func() {
		reply, err := work()
		post(self, &Result{id, reply, err})
	})
}

// Answerer returns a function that answers a request, from any goroutine.
func (in *Input) Answerer(id uint64) func() {
	self, post := in.Out.Self(), in.Post
	return func() { post(self, &Result{ID: id}) }
}

// Start starts the work that begins after the turn.
func (in *Input) Start() {
	for _, job := range in.Jobs() {
		go job()
	}
}

// Jobs returns the work that begins after the turn.
func (in *Input) Jobs() []func() {
	jobs := in.jobs
	in.jobs = nil
	return jobs
}

// Rest ends the turn: the actor gets Resume, and processes parked input then.
func (in *Input) Rest() {
	if !in.resting {
		in.resting = true
		in.Out.Send(in.Out.Self(), Resume{})
	}
}

// Resting reports whether Resume is in the mailbox.
func (in *Input) Resting() bool { return in.resting }

// Resume handles Resume.
func (in *Input) Resume() { in.resting = false }

// Process passes parked input to run as long as may returns true; run returns false to leave it parked.
func (in *Input) Process(may func() bool, run func(m any) bool) {
	n := 0
	for n < len(in.parked) && may() && run(in.parked[n]) {
		n++
	}
	in.parked = slices.Delete(in.parked, 0, n)
}

// Drained reports whether the connection is ending and all input has been processed.
func (in *Input) Drained() bool { return in.Leaving && !in.waits && len(in.parked) == 0 }

// Read passes the frames of m to next in order. next handles one frame at the beginning of b and returns its length: 0 if the frame
// has to wait, negative if the rest cannot be split into frames. Read returns false if a frame has to wait; the rest is left in m.
func (in *Input) Read(m *mail.Inbound, next func(b []byte) int) bool {
	in.Chunk = m.Chunk
	for len(m.Runs) > 0 {
		n := 0
		if len(m.Runs[0]) > 0 {
			if n = next(m.Runs[0]); n == 0 {
				return false
			}
		}
		switch {
		case n < 0:
			m.Runs = nil
		case n == len(m.Runs[0]):
			m.Runs = m.Runs[1:]
		default:
			m.Runs[0] = m.Runs[0][n:]
		}
	}
	return true
}

// Release releases m, whose frames have been processed.
func (in *Input) Release(m *mail.Inbound) {
	in.Chunk = nil
	m.Chunk.Release()
	m.Chunk = nil
}

// End ends the input, and returns what is parked.
func (in *Input) End() []any {
	left := in.parked
	in.Phase, in.parked = Ended, nil
	return left
}
