package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
)

// withSessions returns an emulator configuration file with a queue that has sessions.
func withSessions(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Config.json")
	err := os.WriteFile(path, []byte(`{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [
		{"Name": "orders", "Properties": {"RequiresSession": true, "LockDuration": "PT1M", "MaxDeliveryCount": 5}},
		{"Name": "brief", "Properties": {"RequiresSession": true, "LockDuration": "PT5S"}}, {"Name": "plain"}]}]}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sends sends messages of a session.
func (a *azure) sends(queue, session string, bodies ...string) {
	a.Helper()
	s := a.sender(queue)
	for _, body := range bodies {
		a.ok(s.SendMessage(a.ctx, &azservicebus.Message{Body: []byte(body), SessionID: &session}, nil))
	}
}

func (a *azure) gets(r *azservicebus.SessionReceiver, want ...string) (all []*azservicebus.ReceivedMessage) {
	a.Helper()
	for _, body := range want {
		m, err := r.ReceiveMessages(a.ctx, 1, nil)
		if a.ok(err); len(m) == 0 { // the client has lost its link
			a.Fatalf("nothing came of session %s, want %s", r.SessionID(), body)
		}
		if string(m[0].Body) != body || *m[0].SessionID != r.SessionID() {
			a.Fatalf("%s of session %s, want %s", m[0].Body, *m[0].SessionID, body)
		}
		all = append(all, m[0])
	}
	return all
}

// lists fails the test unless a pager lists these sessions.
func (a *azure) lists(pager *runtime.Pager[azservicebus.ListSessionsResponse], want ...string) {
	a.Helper()
	var got []string
	for pager.More() {
		page, err := pager.NextPage(a.ctx)
		a.ok(err)
		got = append(got, page.Sessions...)
	}
	if !slices.Equal(got, want) {
		a.Errorf("sessions %q, want %q", got, want)
	}
}

// hasState fails the test unless a session has the state want; nil means none.
func (a *azure) hasState(s *azservicebus.SessionReceiver, want []byte) {
	a.Helper()
	state, err := s.GetSessionState(a.ctx, nil)
	if a.ok(err); !bytes.Equal(state, want) {
		a.Errorf("the state is %q, want %q", state, want)
	}
}

// TestAzureClient_Sessions: Azure's own client for Go receives sessions, named ones and the next available, in order, with states
// and locks.
func TestAzureClient_Sessions(t *testing.T) {
	a := azureOf(t, withSessions(t))
	if err := a.sender("orders").SendMessage(a.ctx, &azservicebus.Message{Body: []byte("none")}, nil); err == nil {
		t.Error("taken without a session")
	}
	a.sends("orders", "a", "1", "2")
	a.sends("orders", "b", "3")
	if _, err := a.receiver("orders", nil).ReceiveMessages(a.ctx, 1, nil); err == nil {
		t.Error("received without a session")
	}
	one, err := a.client.AcceptSessionForQueue(a.ctx, "orders", "a", nil)
	a.ok(err)
	if left := time.Until(one.LockedUntil()); left < 10*time.Second || left > time.Minute+time.Second {
		t.Errorf("locked for %s", left)
	}
	if _, err := a.client.AcceptSessionForQueue(a.ctx, "orders", "a", nil); err == nil {
		t.Error("locked twice")
	}
	a.lists(a.client.NewListSessionsForQueuePager("orders", nil), "a", "b")
	next, err := a.client.AcceptNextSessionForQueue(a.ctx, "orders", nil)
	a.ok(err)
	a.ok(next.CompleteMessage(a.ctx, a.gets(next, "3")[0], nil))
	short, cancel := context.WithTimeout(a.ctx, 500*time.Millisecond)
	if _, err := a.client.AcceptNextSessionForQueue(short, "orders", nil); err == nil {
		t.Error("a session of nothing")
	}
	cancel()
	got := a.gets(one, "1", "2")
	a.ok(one.AbandonMessage(a.ctx, got[0], nil))
	a.ok(one.CompleteMessage(a.ctx, got[1], nil))
	again := a.gets(one, "1")[0]
	if again.DeliveryCount != 2 {
		t.Errorf("delivered %d times", again.DeliveryCount)
	}
	a.ok(one.DeferMessage(a.ctx, again, nil))
	late, err := one.ReceiveDeferredMessages(a.ctx, []int64{*again.SequenceNumber}, nil)
	a.ok(err)
	peeked, err := one.PeekMessages(a.ctx, 10, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64)})
	if a.ok(err); len(peeked) != 1 || len(late) != 1 || string(late[0].Body) != "1" {
		t.Fatalf("%d peeked, %d received", len(peeked), len(late))
	}
	a.ok(one.CompleteMessage(a.ctx, late[0], nil))
	before := azservicebus.ListSessionsOptions{SessionStateUpdatedAfter: to.Ptr(time.Now().Truncate(time.Millisecond))}
	a.ok(one.SetSessionState(a.ctx, []byte("half"), nil))
	a.lists(a.client.NewListSessionsForQueuePager("orders", &before), "a")
	was := one.LockedUntil()
	a.ok(one.RenewSessionLock(a.ctx, nil))
	if one.LockedUntil().Before(was) {
		t.Errorf("renewed until %s, %s before", one.LockedUntil(), was)
	}
	a.ok(one.Close(a.ctx))
	back, err := a.client.AcceptSessionForQueue(a.ctx, "orders", "a", nil)
	a.ok(err)
	a.hasState(back, []byte("half"))
	a.ok(back.SetSessionState(a.ctx, nil, nil))
	a.hasState(back, nil)
	if _, err := a.client.AcceptSessionForQueue(a.ctx, "plain", "a", nil); err == nil {
		t.Error("a session of a queue without")
	}
}

// TestAzureClient_SessionLost: a receiver that does not renew the lock of its session in time loses it; another receiver gets the
// session at that time, not earlier.
func TestAzureClient_SessionLost(t *testing.T) {
	t.Parallel()
	a := azureOf(t, withSessions(t))
	a.sends("brief", "a", "1")
	one, err := a.client.AcceptSessionForQueue(a.ctx, "brief", "a", nil)
	a.ok(err)
	kept, ends := a.gets(one, "1")[0], one.LockedUntil()
	other, err := a.client.AcceptNextSessionForQueue(a.ctx, "brief", nil)
	a.ok(err)
	if early := time.Until(ends); early > 0 {
		t.Errorf("%s early", early)
	}
	short, cancel := context.WithTimeout(a.ctx, time.Second) // the client retries after a delay that is longer than the other receiver's lock
	defer cancel()
	if err := one.CompleteMessage(short, kept, nil); err == nil {
		t.Error("completed without the lock")
	}
	a.ok(other.CompleteMessage(a.ctx, a.gets(other, "1")[0], nil))
}

// TestAzureClient_SessionsJavaScript tests the same with the npm package @azure/service-bus.
func TestAzureClient_SessionsJavaScript(t *testing.T) {
	doAzureJavaScript(t, withSessions(t), "node/servicebus_sessions.js")
}
