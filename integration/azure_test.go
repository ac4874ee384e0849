package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// azure is a connection of Azure's own client to a broker with the entities of the emulator's configuration file.
type azure struct {
	*testing.T
	ctx    context.Context
	client *azservicebus.Client
}

// smallMessages are the settings that limit messages to 2 MB.
var smallMessages = []string{"--max-message-size=2000000", "--servicebus-max-message-size=2000000"}

func connectAzure(t *testing.T) *azure {
	t.Helper()
	return azureOf(t, sampleConfig)
}

// azureOf is connectAzure with the entities of another configuration file.
func azureOf(t *testing.T, file string, flags ...string) *azure {
	t.Helper()
	b := start(t, append(flags, "--servicebus-config", file, "--servicebus-emulator")...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	client, err := azservicebus.NewClientFromConnectionString("Endpoint=sb://"+b.amqp+";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &azure{t, ctx, client}
}

func (a *azure) ok(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

func (a *azure) sender(to string) *azservicebus.Sender {
	a.Helper()
	s, err := a.client.NewSender(to, nil)
	a.ok(err)
	return s
}

func (a *azure) send(to string, bodies ...string) {
	a.Helper()
	s := a.sender(to)
	for _, body := range bodies {
		a.ok(s.SendMessage(a.ctx, &azservicebus.Message{Body: []byte(body), ApplicationProperties: map[string]any{"n": int64(1)}}, nil))
	}
	a.ok(s.Close(a.ctx))
}

func (a *azure) receiver(queue string, opts *azservicebus.ReceiverOptions) *azservicebus.Receiver {
	a.Helper()
	r, err := a.client.NewReceiverForQueue(queue, opts)
	a.ok(err)
	return r
}

// receive receives one message.
func (a *azure) receive(r *azservicebus.Receiver, want string) *azservicebus.ReceivedMessage {
	a.Helper()
	got, err := r.ReceiveMessages(a.ctx, 1, nil)
	a.ok(err)
	if string(got[0].Body) != want {
		a.Fatalf("got %q, want %q", got[0].Body, want)
	}
	return got[0]
}

// Azure's client for Go sends, receives, abandons, completes, renews locks, schedules and peeks.
func TestAzureClient(t *testing.T) {
	t.Parallel()
	a := connectAzure(t)
	const queue = "failures"
	a.send(queue, "abandoned")
	r := a.receiver(queue, nil)
	m := a.receive(r, "abandoned")
	if m.DeliveryCount != 1 || m.SequenceNumber == nil || m.EnqueuedTime == nil || m.LockedUntil == nil || m.LockedUntil.Before(time.Now()) || m.ApplicationProperties["n"] != int64(1) {
		t.Errorf("%+v", m)
	}
	until := *m.LockedUntil
	a.ok(r.RenewMessageLock(a.ctx, m, nil))
	if m.LockedUntil.Before(until) {
		t.Errorf("%v is before %v", m.LockedUntil, until)
	}
	delayed := map[string]any{"again": "yes", "x-opt-delivery-delay": int64(300)} // RETRY-5
	abandoned := time.Now()
	a.ok(r.AbandonMessage(a.ctx, m, &azservicebus.AbandonMessageOptions{PropertiesToModify: delayed}))
	m = a.receive(r, "abandoned")
	if m.DeliveryCount != 2 || m.ApplicationProperties["again"] != "yes" || len(m.ApplicationProperties) != 2 || time.Since(abandoned) < 299*time.Millisecond {
		t.Errorf("%+v", m)
	}
	a.ok(r.CompleteMessage(a.ctx, m, nil))
	var lost *azservicebus.Error
	if err := r.RenewMessageLock(a.ctx, m, nil); !errors.As(err, &lost) || lost.Code != azservicebus.CodeLockLost {
		t.Errorf("renewed when it was completed: %v", err)
	}
	at := time.Now().Add(time.Hour)
	a.send(queue, "1", "2")
	a.ok(a.sender(queue).SendMessage(a.ctx, &azservicebus.Message{Body: []byte("3"), ScheduledEnqueueTime: &at}, nil))
	peeked, err := r.PeekMessages(a.ctx, 10, nil)
	a.ok(err)
	if len(peeked) != 3 || string(peeked[1].Body) != "2" || peeked[1].ApplicationProperties["n"] != int64(1) || peeked[2].State != azservicebus.MessageStateScheduled || *peeked[0].SequenceNumber >= *peeked[1].SequenceNumber {
		t.Errorf("%+v", peeked)
	}
	for _, body := range []string{"1", "2"} {
		a.ok(r.CompleteMessage(a.ctx, a.receive(r, body), nil))
	}
}

// Deferred messages are received by their numbers, and settled.
func TestAzureClient_Deferred(t *testing.T) {
	t.Parallel()
	a := connectAzure(t)
	const queue = "failures"
	a.send(queue, "1", "2", "3")
	r := a.receiver(queue, nil)
	var numbers []int64
	for _, body := range []string{"1", "2", "3"} {
		m := a.receive(r, body)
		a.ok(r.DeferMessage(a.ctx, m, &azservicebus.DeferMessageOptions{PropertiesToModify: map[string]any{"why": "later"}}))
		numbers = append(numbers, *m.SequenceNumber)
	}
	peeked, err := r.PeekMessages(a.ctx, 10, nil)
	a.ok(err)
	if len(peeked) != 3 || peeked[0].State != azservicebus.MessageStateDeferred {
		t.Errorf("%+v", peeked)
	}
	got, err := r.ReceiveDeferredMessages(a.ctx, numbers, nil)
	a.ok(err)
	if len(got) != 3 || string(got[2].Body) != "3" || got[2].ApplicationProperties["why"] != "later" || *got[2].SequenceNumber != numbers[2] {
		t.Fatalf("%+v", got)
	}
	a.ok(r.RenewMessageLock(a.ctx, got[0], nil))
	a.ok(r.CompleteMessage(a.ctx, got[0], nil))
	a.ok(r.AbandonMessage(a.ctx, got[1], nil))
	reason := "bad"
	a.ok(r.DeadLetterMessage(a.ctx, got[2], &azservicebus.DeadLetterOptions{Reason: &reason}))
	var lost *azservicebus.Error
	if err := r.CompleteMessage(a.ctx, got[0], nil); !errors.As(err, &lost) || lost.Code != azservicebus.CodeLockLost {
		t.Errorf("completed twice: %v", err)
	}
	got, err = r.ReceiveDeferredMessages(a.ctx, numbers, nil)
	a.ok(err)
	if len(got) != 1 || string(got[0].Body) != "2" || got[0].DeliveryCount != 3 {
		t.Fatalf("%+v", got)
	}
	a.ok(r.DeferMessage(a.ctx, got[0], nil))
	r = a.receiver(queue, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	got, err = r.ReceiveDeferredMessages(a.ctx, numbers[1:2], nil)
	a.ok(err)
	if len(got) != 1 || string(got[0].Body) != "2" {
		t.Fatalf("%+v", got)
	}
	if got, err := r.ReceiveDeferredMessages(a.ctx, numbers, nil); !errors.As(err, &lost) || lost.Code != azservicebus.CodeNotFound {
		t.Errorf("%v, %v", got, err)
	}
}

// Messages are scheduled, and cancelled by their numbers.
func TestAzureClient_Scheduled(t *testing.T) {
	t.Parallel()
	a := connectAzure(t)
	const queue = "failures"
	s, r := a.sender(queue), a.receiver(queue, nil)
	at := time.Now().Add(time.Hour)
	numbers, err := s.ScheduleMessages(a.ctx, []*azservicebus.Message{{Body: []byte("1")}, {Body: []byte("2")}}, at, nil)
	a.ok(err)
	if len(numbers) != 2 {
		t.Fatal(numbers)
	}
	peeked, err := r.PeekMessages(a.ctx, 10, nil)
	a.ok(err)
	if len(peeked) != 2 || *peeked[1].SequenceNumber != numbers[1] || peeked[1].State != azservicebus.MessageStateScheduled {
		t.Errorf("%+v", peeked)
	}
	a.ok(s.CancelScheduledMessages(a.ctx, numbers, nil))
	var none *azservicebus.Error
	if err := s.CancelScheduledMessages(a.ctx, numbers, nil); !errors.As(err, &none) || none.Code != azservicebus.CodeNotFound {
		t.Errorf("cancelled twice: %v", err)
	}
	_, err = s.ScheduleMessages(a.ctx, []*azservicebus.Message{{Body: []byte("now")}}, time.Now().Add(100*time.Millisecond), nil)
	a.ok(err)
	a.ok(r.CompleteMessage(a.ctx, a.receive(r, "now"), nil))
}

// Messages are dead-lettered with a reason, and sent in batches.
func TestAzureClient_DeadLettersAndBatches(t *testing.T) {
	t.Parallel()
	a := connectAzure(t)
	const queue = "failures"
	r := a.receiver(queue, nil)
	a.send(queue, "dead")
	reason, why := "bad", "it is"
	received := a.receive(r, "dead")
	began := time.Now()
	a.ok(r.DeadLetterMessage(a.ctx, received, &azservicebus.DeadLetterOptions{
		Reason: &reason, ErrorDescription: &why, PropertiesToModify: map[string]any{"code": int64(8)},
	}))
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the connection was made anew: %v", took)
	}
	dead := a.receiver(queue, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	m := a.receive(dead, "dead")
	if m.DeadLetterReason == nil || *m.DeadLetterReason != reason || m.DeadLetterErrorDescription == nil || *m.DeadLetterErrorDescription != why || m.DeadLetterSource == nil || *m.DeadLetterSource != queue ||
		m.ApplicationProperties["code"] != int64(8) || m.ApplicationProperties["n"] != int64(1) {
		t.Errorf("%+v", m)
	}
	a.ok(dead.CompleteMessage(a.ctx, m, nil))

	s := a.sender(queue)
	batch, err := s.NewMessageBatch(a.ctx, nil)
	a.ok(err)
	for i := range 100 {
		a.ok(batch.AddMessage(&azservicebus.Message{Body: bytes.Repeat([]byte(fmt.Sprint(i%10)), 500)}, nil))
	}
	a.ok(s.SendMessageBatch(a.ctx, batch, nil))
	body := &azservicebus.Message{Body: make([]byte, 1000)}
	for n := 0; batch.AddMessage(body, nil) == nil; n++ {
		if n > 260 { // SBE-17
			t.Fatal("a batch of more than 256 KiB")
		}
	}
	large, err := s.NewMessageBatch(a.ctx, nil)
	a.ok(err)
	for large.AddMessage(&azservicebus.Message{}, nil) == nil { // the smallest ones: SBE-7
	}
	a.ok(s.SendMessageBatch(a.ctx, large, nil))
	a.ok(r.Close(a.ctx))
	r = a.receiver(queue, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	for n := 0; n < 100; {
		got, err := r.ReceiveMessages(a.ctx, 100-n, nil)
		a.ok(err)
		for _, m := range got {
			if m.Body[0] != byte('0'+n%10) {
				t.Fatalf("%d: %s", n, m.Body[:1])
			}
			n++
		}
	}
}

// A topic's subscriptions get the messages that their rules select; a missing entity is reported as not found.
func TestAzureClient_Links(t *testing.T) {
	t.Parallel()
	a := connectAzure(t)
	a.send("events", "m")
	r, err := a.client.NewReceiverForSubscription("events", "all", nil)
	a.ok(err)
	a.ok(r.CompleteMessage(a.ctx, a.receive(r, "m"), nil))
	var refused *azservicebus.Error
	if _, err := a.receiver("none", nil).ReceiveMessages(a.ctx, 1, nil); !errors.As(err, &refused) || refused.Code != azservicebus.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// TestAzureClient_JavaScript tests the same with Azure's client for JavaScript.
func TestAzureClient_JavaScript(t *testing.T) {
	doAzureJavaScript(t, sampleConfig, "node/servicebus.js")
}

// doAzureJavaScript runs a program that uses this client against a broker with the entities of a file.
func doAzureJavaScript(t *testing.T, file, program string) {
	t.Helper()
	t.Parallel()
	f := foreign{name: "@azure/service-bus", where: npm, probe: []string{"node", "-e", "require('@azure/service-bus')"}, run: []string{"node"}}
	f.want(t)
	b := start(t, append([]string{"--servicebus-config", file, "--servicebus-emulator"}, smallMessages...)...)
	_, port, err := net.SplitHostPort(b.amqp)
	if err != nil {
		t.Fatal(err)
	}
	f.do(t, program, port)
}
