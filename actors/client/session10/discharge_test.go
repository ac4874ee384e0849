package session10

import (
	"testing"
	"testing/synctest"
	"time"

	work "candlemark/actors/client/session10/transactions"
	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
	"candlemark/internal/servicebus/dialect/transactions"
	"candlemark/internal/transport/budget"
)

// TestDL33_DischargeWaits: in an alarm the messages of a transaction for several queues wait, with all input, and are sent in one turn
// then; they are dropped if the transaction ends before.
func TestDL33_DischargeWaits(t *testing.T) {
	for _, rolledBack := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			messages := &budget.Budget{}
			valve := budget.NewValve(messages)
			s, l := crowded(3, func(cfg *Config) { cfg.Copies = budget.NewCopies(messages, valve) })
			var later []any
			s.in.Post = func(_ mail.Address, m any) { later = append(later, m) }
			s.startWork()
			var known transactions.Known
			known.Set([]byte{1}, true)
			x, err := s.work.Join([]byte{1}, &known, budget.NewIntake().Of(nil))
			if err != nil {
				t.Fatal(err)
			}
			to := s.cfg.VHost.Directory().Exchange(l.publisher.Target.Exchange)
			var queues []*topology.Queue
			for b := range to.Routes().Bindings() {
				_, target := to.Routes().Find(b)
				queues = append(queues, target.Queue)
			}
			if err := x.Publish(work.Publish{Message: message.Message{Body: []byte("b")}, To: to, Queues: queues}); err != nil {
				t.Fatal(err)
			}
			valve.SetShut(true)
			for s.cfg.Copies.Ask(1) {
				messages.Count(1)
			}
			step := func(step mail.TransactionStep) { s.work.Step(&mail.StepTransaction{ID: "\x01", Step: step}) }
			step(mail.PublishTransaction)
			sent := func() (n int) {
				s.enqueued(func(*message.Message) { n++ })
				return n
			}
			if n := sent(); n != 0 || !s.waits() {
				t.Errorf("%d are sent during an alarm, input waits: %v", n, s.waits())
			}
			if rolledBack {
				step(mail.ForgetTransaction)
			}
			valve.SetShut(false)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			for _, m := range later {
				s.Handle(m)
			}
			if n := sent(); n != 3 && !rolledBack || n != 0 && rolledBack {
				t.Errorf("%d are sent after it, rolled back: %v", n, rolledBack)
			}
		})
	}
}
