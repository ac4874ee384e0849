package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	amqp "github.com/rabbitmq/amqp091-go"
)

const crashEntity = "entity"

// entityBooks record the answers that clients of Azure Service Bus got from a queue whose broker is killed repeatedly.
type entityBooks struct {
	*testing.T
	mu        sync.Mutex
	next      int
	confirmed []string             // bodies of accepted messages, which are also their message-ids
	due       map[string]time.Time // scheduled messages by body
	completed map[string]bool      // by body: completion was requested
	deferred  map[int64]deferral   // by sequence number
	stored    time.Time            // when the latest accepted publish began: all earlier changes of the queue are stored, too
	forgotten int                  // deferrals undone by a crash
}

type deferral struct {
	body  string
	count uint32
	at    time.Time // when the deferral was answered
	kept  bool      // was found deferred after a restart, so it must stay deferred
}

// TestCrashEntity_DEFER5_DUP2_DLY14 kills the broker under load: deferred messages stay deferred, with their numbers and counts;
// accepted messages are detected as duplicates; scheduled messages are kept and not delivered early; all in order.
func TestCrashEntity_DEFER5_DUP2_DLY14(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(loggedSeed(t), 2))
	k := &entityBooks{T: t, due: map[string]time.Time{}, completed: map[string]bool{}, deferred: map[int64]deferral{}}
	dir := filepath.Join(t.TempDir(), "data")
	for range *crashRounds {
		b := startIn(t, dir, "--servicebus-emulator")
		_, err := b.dial().QueueDeclare(crashEntity, true, false, false, false, amqp.Table{"x-duplicate-detection-window": 3_600_000, "x-delayed-messages": true})
		if err != nil {
			t.Fatal(err)
		}
		k.check(b)
		k.round(b, time.Duration(500+r.IntN(1500))*time.Millisecond)
		b = startIn(t, dir, "--servicebus-emulator")
		k.check(b)
		b.kill() // keep only what the start has written
	}
	b := startIn(t, dir, "--servicebus-emulator")
	k.drain(b)
	b.stop()
	t.Logf("%d confirmed, %d scheduled, %d deferred; crashes undid %d deferrals", len(k.confirmed), len(k.due), len(k.deferred), k.forgotten)
}

// connect returns a client whose requests are cancelled when the broker is gone.
func (k *entityBooks) connect(b *broker) (*azure, context.CancelFunc) {
	k.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	k.Cleanup(cancel)
	client, err := azservicebus.NewClientFromConnectionString(
		"Endpoint=sb://"+b.amqp+";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;",
		&azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}})
	if err != nil {
		k.Fatal(err)
	}
	k.Cleanup(func() { _ = client.Close(ctx) })
	return &azure{k.T, ctx, client}, cancel
}

// round runs clients until the broker is killed.
func (k *entityBooks) round(b *broker, length time.Duration) {
	var working sync.WaitGroup
	var cancels []context.CancelFunc
	for _, work := range []func(*azure){k.send, k.schedule, k.receive, k.receive} {
		a, cancel := k.connect(b)
		cancels = append(cancels, cancel)
		working.Go(func() { work(a) })
	}
	<-time.After(length) // chosen by the test
	b.kill()
	for _, cancel := range cancels {
		cancel()
	}
	working.Wait()
}

// message returns the next message; bodies sort in the order of creation.
func (k *entityBooks) message(kind string) *azservicebus.Message {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.next++
	body := fmt.Sprintf("%s%08d", kind, k.next)
	return &azservicebus.Message{Body: []byte(body), MessageID: &body}
}

func (k *entityBooks) send(a *azure) {
	s := a.sender(crashEntity)
	for {
		m, began := k.message("sent"), time.Now()
		if s.SendMessage(a.ctx, m, nil) != nil {
			return
		}
		k.mu.Lock()
		k.stored = began
		k.confirmed = append(k.confirmed, *m.MessageID)
		k.mu.Unlock()
	}
}

// schedule schedules messages, some for times at which the broker is down.
func (k *entityBooks) schedule(a *azure) {
	s := a.sender(crashEntity)
	for n := 1; ; n++ {
		m, at := k.message("due"), time.Now().Add(time.Duration(n%40)*100*time.Millisecond).Truncate(time.Millisecond)
		k.mu.Lock()
		k.due[*m.MessageID] = at // the message may be accepted without an answer
		k.mu.Unlock()
		if _, err := s.ScheduleMessages(a.ctx, []*azservicebus.Message{m}, at, nil); err != nil {
			return
		}
		k.mu.Lock()
		k.confirmed = append(k.confirmed, *m.MessageID)
		k.mu.Unlock()
	}
}

// receive defers every second message, and completes or abandons the others.
func (k *entityBooks) receive(a *azure) {
	r, err := a.client.NewReceiverForQueue(crashEntity, nil)
	if err != nil {
		return
	}
	for {
		got, err := r.ReceiveMessages(a.ctx, 10, nil)
		if err != nil {
			return
		}
		for i, m := range got {
			k.arrived(m)
			switch {
			case i%2 == 0:
				if r.DeferMessage(a.ctx, m, nil) != nil {
					return
				}
				k.mu.Lock()
				k.deferred[*m.SequenceNumber] = deferral{body: string(m.Body), count: m.DeliveryCount + 1, at: time.Now()} // to defer counts
				k.mu.Unlock()
			case i%4 == 1:
				k.mu.Lock()
				k.completed[string(m.Body)] = true
				k.mu.Unlock()
				if r.CompleteMessage(a.ctx, m, nil) != nil {
					return
				}
			default:
				if r.AbandonMessage(a.ctx, m, nil) != nil {
					return
				}
			}
		}
	}
}

// arrived checks that a message is not delivered early.
func (k *entityBooks) arrived(m *azservicebus.ReceivedMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at, ok := k.due[string(m.Body)]; ok && time.Now().Before(at) {
		k.Errorf("%s came %v early", m.Body, time.Until(at))
	}
}

// check checks all messages of the queue: numbers ascend, none is duplicated, none is lost, and deferred ones are still deferred.
func (k *entityBooks) check(b *broker) {
	a, cancel := k.connect(b)
	defer cancel()
	r := a.receiver(crashEntity, nil)
	last, here, kept := int64(0), map[string]bool{}, 0
	for {
		from := last + 1
		page, err := r.PeekMessages(a.ctx, 250, &azservicebus.PeekMessagesOptions{FromSequenceNumber: &from})
		a.ok(err)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			number, body := *m.SequenceNumber, string(m.Body)
			if number <= last || here[body] {
				k.Errorf("%s is there twice, or out of order: %d after %d", body, number, last)
			}
			last, here[body] = number, true
			kept += k.peeked(m)
		}
	}
	for _, body := range k.confirmed {
		if !here[body] && !k.completed[body] {
			k.Errorf("%s is lost", body)
		}
	}
	for number, d := range k.deferred { // a crash may have undone a publish that was not confirmed
		if !here[d.body] && !d.kept && !slices.Contains(k.confirmed, d.body) {
			delete(k.deferred, number)
		}
	}
	if kept != len(k.deferred) {
		k.Errorf("%d of %d are deferred", kept, len(k.deferred))
	}
	_ = a.client.Close(a.ctx)
}

// peeked checks a message against the recorded answers, and returns 1 if it is deferred.
func (k *entityBooks) peeked(m *azservicebus.ReceivedMessage) int {
	number, body := *m.SequenceNumber, string(m.Body)
	d, known := k.deferred[number]
	switch is := m.State == azservicebus.MessageStateDeferred; {
	case is && !known: // the deferral was not answered
		k.deferred[number] = deferral{body: body, count: m.DeliveryCount, kept: true}
		return 1
	case is && (d.body != body || d.count != m.DeliveryCount):
		k.Errorf("%d is %s and was delivered %d times, not %s and %d", number, body, m.DeliveryCount, d.body, d.count)
	case is:
		d.kept = true
		k.deferred[number] = d
	case known && d.kept:
		k.Errorf("%s is deferred no more", body)
	case known:
		k.forgotten++
		if d.at.Before(k.stored) {
			k.Errorf("%s is deferred no more, although a message sent later was stored", body)
		}
		delete(k.deferred, number)
		return 0
	}
	if m.State == azservicebus.MessageStateDeferred {
		return 1
	}
	return 0
}

// drain sends all messages again, which are dropped as duplicates, and receives the remaining ones.
func (k *entityBooks) drain(b *broker) {
	a, cancel := k.connect(b)
	defer cancel()
	s := a.sender(crashEntity)
	for from := 0; from < len(k.confirmed); from += 200 {
		batch, err := s.NewMessageBatch(a.ctx, nil)
		a.ok(err)
		for _, id := range k.confirmed[from:min(from+200, len(k.confirmed))] {
			a.ok(batch.AddMessage(&azservicebus.Message{Body: []byte("again"), MessageID: &id}, nil))
		}
		a.ok(s.SendMessageBatch(a.ctx, batch, nil))
	}
	last := fmt.Sprint("last", time.Now())
	at := time.Now()
	for _, due := range k.due {
		if due.After(at) {
			at = due
		}
	}
	at = at.Add(100 * time.Millisecond) // later than all other due times
	a.ok(s.SendMessage(a.ctx, &azservicebus.Message{Body: []byte(last), MessageID: &last, ScheduledEnqueueTime: &at}, nil))
	k.takeReady(a, last)
	k.takeDeferred(a)
}

// takeReady receives all ready messages up to last: in order, none duplicated, none lost.
func (k *entityBooks) takeReady(a *azure, last string) {
	r := a.receiver(crashEntity, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	taken, before := map[string]bool{}, ""
	for !taken[last] {
		got, err := r.ReceiveMessages(a.ctx, 500, nil)
		a.ok(err)
		for _, m := range got {
			k.arrived(m)
			body := string(m.Body)
			if taken[body] || body == "again" {
				k.Errorf("%s came twice", body)
			}
			if strings.HasPrefix(body, "sent") {
				if body < before {
					k.Errorf("%s came behind %s", body, before)
				}
				before = body
			}
			taken[body] = true
		}
	}
	for _, d := range k.deferred {
		if taken[d.body] {
			k.Errorf("%s is deferred and came", d.body)
		}
		taken[d.body] = true
	}
	for _, body := range k.confirmed {
		if !taken[body] && !k.completed[body] {
			k.Errorf("%s is lost", body)
		}
	}
}

// takeDeferred receives all deferred messages by their numbers.
func (k *entityBooks) takeDeferred(a *azure) {
	r := a.receiver(crashEntity, nil)
	for number, d := range k.deferred {
		got, err := r.ReceiveDeferredMessages(a.ctx, []int64{number}, nil)
		a.ok(err)
		if len(got) != 1 || string(got[0].Body) != d.body || *got[0].SequenceNumber != number || got[0].DeliveryCount != d.count {
			k.Errorf("%d is %+v, not %+v", number, *got[0], d)
		}
	}
}
