package confirms

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// judge checks the confirms of a publisher: each number is confirmed once, and only after all queues have answered.
type judge struct {
	t         *testing.T
	waits     map[uint64]int  // number of queues that have not answered, by publish number
	refused   map[uint64]bool // refused by any queue
	confirmed map[uint64]bool
	first     uint64 // all numbers below it were confirmed
}

func newJudge(t *testing.T) *judge {
	return &judge{t: t, waits: map[uint64]int{}, refused: map[uint64]bool{}, confirmed: map[uint64]bool{}, first: 1}
}

func (j *judge) hear(frames []byte) {
	for len(frames) > 0 {
		f, n, _, err := protocol.ParseFrame(frames, 0)
		if err != nil {
			j.t.Fatal(err)
		}
		frames = frames[n:]
		switch m, _ := protocol.DecodeMethod(f.Payload); m := m.(type) {
		case *protocol.BasicAck:
			j.handle(m.DeliveryTag, m.Multiple, false)
		case *protocol.BasicNack:
			if m.Multiple || m.Requeue {
				j.t.Fatalf("nack %+v", m)
			}
			j.handle(m.DeliveryTag, false, true)
		default:
			j.t.Fatalf("%v", m)
		}
	}
}

func (j *judge) handle(tag uint64, multiple, nack bool) {
	if multiple {
		for n := j.first; n < tag; n++ {
			if !j.confirmed[n] {
				j.settle(n, false)
			}
		}
	}
	j.settle(tag, nack)
	for ; j.confirmed[j.first]; j.first++ {
		delete(j.confirmed, j.first)
		delete(j.waits, j.first)
	}
}

func (j *judge) settle(n uint64, nack bool) {
	waits, known := j.waits[n]
	if !known || waits > 0 || j.confirmed[n] || nack != j.refused[n] || n < j.first {
		j.t.Fatalf("confirm of %d (nack %v): published %v, %d queues have not answered, confirmed before %v, refused %v", n, nack, known, waits, j.confirmed[n], j.refused[n])
	}
	j.confirmed[n] = true
}

// done checks that every settled number was confirmed.
func (j *judge) done() {
	for n, waits := range j.waits {
		if waits == 0 && n >= j.first && !j.confirmed[n] {
			j.t.Fatalf("%d is settled and was not confirmed", n)
		}
	}
}

// Publishes go to up to three queues, which answer in ranges in any order.
func TestConfirms_Model(t *testing.T) {
	for range 10 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { confirmsModel(t, rand.New(rand.NewPCG(seed, 2))) })
	}
}

func confirmsModel(t *testing.T, random *rand.Rand) {
	var c Confirms
	c.Start()
	j := newJudge(t)
	queues := make([][]uint64, 3) // unanswered numbers of each queue
	for step := range 1500 {
		if step < 1300 && random.IntN(2) == 0 {
			for range 1 + random.IntN(50) {
				to := random.Perm(3)[:random.IntN(4)]
				n := c.Begin(len(to))
				j.waits[n] = len(to)
				if len(to) == 0 {
					c.Complete(n)
					continue
				}
				for _, q := range to {
					queues[q] = append(queues[q], n)
				}
			}
		}
		for q, waiting := range queues {
			if random.IntN(3) > 0 || len(waiting) == 0 {
				continue
			}
			at := random.IntN(len(waiting))
			if random.IntN(3) > 0 {
				at = 0 // queues mostly answer in order
			}
			some := waiting[at:min(len(waiting), at+1+random.IntN(60))]
			refused := random.IntN(10) == 0
			reply := &mail.EnqueueReply{Refused: refused}
			for _, n := range some {
				reply.Add(n)
				j.waits[n]--
				j.refused[n] = j.refused[n] || refused
			}
			for _, r := range reply.Ranges {
				c.Answered(r, refused)
			}
			queues[q] = slices.Delete(waiting, at, at+len(some))
		}
		if random.IntN(3) == 0 {
			j.hear(c.Append(nil, 1))
			j.done()
		}
	}
	for _, waiting := range queues {
		for _, n := range waiting {
			j.waits[n]--
			c.Answered(mail.Range{First: n, Last: n}, false)
		}
	}
	j.hear(c.Append(nil, 1))
	if j.done(); j.first != c.last+1 {
		t.Fatalf("confirmed up to %d of %d", j.first-1, c.last)
	}
}

// A queue that fails may answer twice, or for numbers already settled.
func TestConfirms_AnswersThatNobodyWaitsFor(t *testing.T) {
	var c Confirms
	c.Start()
	c.Answered(mail.Range{First: 1, Last: 5}, false) // nothing was published
	for range 200 {
		c.Begin(1)
	}
	c.Answered(mail.Range{First: 1, Last: 100}, false)
	j := newJudge(t)
	for n := range uint64(200) {
		j.waits[n+1] = 0
	}
	j.hear(c.Append(nil, 1))
	c.Answered(mail.Range{First: 1, Last: 110}, true)
	for n := uint64(101); n <= 110; n++ {
		j.refused[n] = true
	}
	c.Answered(mail.Range{First: 105, Last: 300}, false)
	j.hear(c.Append(nil, 1))
	if j.first != 201 {
		t.Errorf("confirmed up to %d", j.first-1)
	}
}

func TestConfirms_LargeRingIsLetGo(t *testing.T) {
	var c Confirms
	c.Start()
	for range 2 {
		for range 2 * BaseCapacity {
			c.Begin(1)
		}
		c.Answered(mail.Range{First: c.low, Last: c.last}, false)
		c.Append(nil, 1)
		if len(c.ring) > BaseCapacity {
			t.Errorf("ring of %d for nothing", len(c.ring))
		}
	}
}

// Out-of-order confirms put off need no memory beyond the ring.
func TestPutOff_OutOfOrder(t *testing.T) {
	var c Confirms
	c.Start()
	for range 10 {
		c.Begin(1)
	}
	c.Answered(mail.Range{First: 1, Last: 3}, false)
	c.Answered(mail.Range{First: 5, Last: 5}, false)
	c.PutOff()
	c.Answered(mail.Range{First: 7, Last: 7}, true)
	c.PutOff()
	c.Answered(mail.Range{First: 4, Last: 4}, false)
	c.PutOff()
	if len(c.done) != 1 || c.low != 6 || c.Crowded() {
		t.Errorf("%+v", c)
	}
	if got, want := c.Append(nil, 1), protocol.AppendNackFrame(protocol.AppendAckFrame(nil, 1, 5, true), 1, 7, false, false); !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	c.Answered(mail.Range{First: 6, Last: 6}, false)
	c.Answered(mail.Range{First: 8, Last: 10}, false)
	c.PutOff()
	if c.Crowded() {
		t.Error("nothing is under way")
	}
	if got, want := c.Append(nil, 1), protocol.AppendAckFrame(protocol.AppendAckFrame(nil, 1, 6, false), 1, 10, true); !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
