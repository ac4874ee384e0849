package integration

import (
	"context"
	wire "encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"candlemark/protocol/amqp10"

	amqp "github.com/rabbitmq/amqp091-go"
)

// workers is the number of clients that commit concurrently; each receives from a queue of its own.
const workers = 3

// debit and credit are the queues to which each transaction sends.
var debit, credit = "debit", "credit"

// accounts records the outcomes of transactions whose broker is killed repeatedly. Each transaction settles one task
// and sends its own number and the task's to two queues.
type accounts struct {
	*testing.T
	mu        sync.Mutex
	serial    uint32
	tasks     uint32
	tried     map[uint32]uint32 // task by transaction
	committed map[uint32]bool
	back      map[uint32]bool // rolled back
}

// TestCrashTransactions_TXN6 kills the broker under load: messages of committed transactions are in both queues,
// messages of rolled-back ones in none, and a settled task has its messages. A task that has its messages may be
// delivered again.
func TestCrashTransactions_TXN6(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(loggedSeed(t), 4))
	k := &accounts{T: t, tried: map[uint32]uint32{}, committed: map[uint32]bool{}, back: map[uint32]bool{}}
	dir := filepath.Join(t.TempDir(), "data")
	for range *crashRounds {
		b := startIn(t, dir)
		k.fill(b)
		var working sync.WaitGroup
		for w := range workers {
			x, err := transact(t, b, tasksOf(w), debit, credit)
			if err != nil {
				t.Fatal(err)
			}
			working.Go(func() {
				for k.one(x) {
				}
			})
		}
		eventually(t, "transactions end in both ways", k.bothWays)
		<-time.After(time.Duration(300+r.IntN(700)) * time.Millisecond) // chosen by the test
		b.kill()
		working.Wait()
	}
	b := startIn(t, dir)
	k.check(b)
	b.stop()
}

func tasksOf(worker int) string { return "tasks" + string(rune('a'+worker)) }

// fill declares the queues, and gives each worker tasks.
func (k *accounts) fill(b *broker) {
	k.Helper()
	ch := b.dial()
	if err := ch.Confirm(false); err != nil {
		k.Fatal(err)
	}
	var last *amqp.DeferredConfirmation
	for _, q := range []string{debit, credit, tasksOf(0), tasksOf(1), tasksOf(2)} {
		if _, err := ch.QueueDeclare(q, true, false, false, false, nil); err != nil {
			k.Fatal(err)
		}
		if q == debit || q == credit {
			continue
		}
		for range 1000 {
			k.tasks++
			body := wire.BigEndian.AppendUint64(nil, uint64(k.tasks))
			var err error
			last, err = ch.PublishWithDeferredConfirmWithContext(context.Background(), "", q, false, false, amqp.Publishing{DeliveryMode: 2, Body: body})
			if err != nil {
				k.Fatal(err)
			}
		}
		if !last.Wait() {
			k.Fatal("not confirmed")
		}
	}
}

// one runs a transaction, and reports whether the broker has answered.
func (k *accounts) one(x *transactor) bool {
	m, err := x.next()
	if err != nil {
		return false
	}
	s, err := x.coordinate(0x31)
	if err != nil || s.Kind != amqp10.Declared {
		return k.fails(err, s)
	}
	txn, task := s.TxnID, uint32(wire.BigEndian.Uint64(m.body))
	k.mu.Lock()
	k.serial++
	n := k.serial
	k.tried[n] = task
	k.mu.Unlock()
	body := wire.BigEndian.AppendUint32(wire.BigEndian.AppendUint32(nil, n), task)
	if x.accept(txn, m.id) != nil {
		return false
	}
	for handle := range uint32(2) {
		if s, err = x.send(handle+1, txn, persistent(body)); err != nil || s.Kind != amqp10.Transactional {
			return k.fails(err, s)
		}
	}
	back := n%5 == 0
	if s, err = x.coordinate(0x32, txn, back); err != nil || s.Kind != amqp10.Accepted {
		return k.fails(err, s)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if back {
		k.back[n] = true
		x.got = append([]received{m}, x.got...) // may be settled again
	} else {
		k.committed[n] = true
	}
	return true
}

// bothWays reports whether some transactions have been committed and some rolled back.
func (k *accounts) bothWays() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.committed) > 0 && len(k.back) > 0
}

// fails reports a refusal as an error, but not a lost connection. It returns false.
func (k *accounts) fails(err error, s amqp10.State) bool {
	if err == nil {
		k.Errorf("%+v", s)
	}
	return false
}

// check checks the remaining messages.
func (k *accounts) check(b *broker) {
	ch := b.dial()
	left := func(queue string) (bodies [][]byte) {
		for {
			d, ok, err := ch.Get(queue, true)
			if err != nil {
				k.Fatal(err)
			}
			if !ok {
				return bodies
			}
			bodies = append(bodies, d.Body)
		}
	}
	there := map[uint32]int{} // by transaction: number of queues that have its message
	done := map[uint32]int{}  // the same by task
	for _, q := range []string{debit, credit} {
		seen := map[uint32]bool{}
		for _, body := range left(q) {
			n, task := wire.BigEndian.Uint32(body), wire.BigEndian.Uint32(body[4:])
			switch {
			case seen[n]:
				k.Errorf("%d is twice in %s", n, q)
			case k.back[n]:
				k.Errorf("%d is in %s, and was rolled back", n, q)
			case k.tried[n] != task:
				k.Errorf("%d of task %d is in %s", n, task, q)
			}
			seen[n] = true
			there[n]++
			done[task] = max(done[task], there[n])
		}
	}
	for n := range k.committed {
		if there[n] != 2 {
			k.Errorf("%d was committed, and is in %d queues", n, there[n])
		}
	}
	open, again := map[uint32]bool{}, 0
	for w := range workers {
		for _, body := range left(tasksOf(w)) {
			task := uint32(wire.BigEndian.Uint64(body))
			if open[task] = true; done[task] > 0 {
				again++
			}
		}
	}
	for task := uint32(1); task <= k.tasks; task++ {
		if !open[task] && done[task] != 2 {
			k.Errorf("task %d is settled, and its messages are in %d queues", task, done[task])
		}
	}
	k.Logf("%d transactions, %d committed, %d rolled back, %d tasks come again", len(k.tried), len(k.committed), len(k.back), again)
}
