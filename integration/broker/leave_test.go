package broker

import (
	"errors"
	"testing"
	"testing/synctest"

	"candlemark/integration/testkit"
	"candlemark/integration/testkit/users"
	"candlemark/internal/access/auth"
	"candlemark/protocol"
	"candlemark/supervision"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestDL3_LeaveForWhatIsMade: a declare of a queue whose deletion has begun but is not visible yet creates the queue again, so it
// needs the permissions for its arguments.
func TestDL3_LeaveForWhatIsMade(t *testing.T) {
	queueLike := func(args amqp.Table) func(*amqp.Channel) error {
		return func(ch *amqp.Channel) error {
			_, err := ch.QueueDeclare("q", true, false, false, false, args)
			return err
		}
	}
	deleteQueue := func(ch *amqp.Channel) error { _, err := ch.QueueDelete("q", false, false, false); return err }
	deleteExchange := func(ch *amqp.Channel) error { return ch.ExchangeDelete("x", false, false) }
	for name, tc := range map[string]struct {
		refused         users.Refusal
		delete, declare func(*amqp.Channel) error
		want            string
	}{
		"x-dead-letter-exchange": {
			refusal(auth.Exchange, "secret", auth.Write), deleteQueue, queueLike(amqp.Table{"x-dead-letter-exchange": "secret"}),
			"ACCESS_REFUSED - write access to exchange 'secret' in vhost '/' refused for user 'lim'",
		},
		"x-dead-letter-exchange of an unreadable queue": {
			refusal(auth.Queue, "q", auth.Read), deleteQueue, queueLike(amqp.Table{"x-dead-letter-exchange": "other"}),
			"ACCESS_REFUSED - read access to queue 'q' in vhost '/' refused for user 'lim'",
		},
		"x-forward-to": {
			refusal(auth.Exchange, "secret", auth.Write), deleteQueue, queueLike(amqp.Table{"x-forward-to": "secret"}),
			"ACCESS_REFUSED - write access to exchange 'secret' in vhost '/' refused for user 'lim'",
		},
		"x-dead-letter-queue": {
			refusal(auth.Queue, "q.dlq", auth.Configure), deleteQueue, queueLike(amqp.Table{"x-dead-letter-queue": true}),
			"ACCESS_REFUSED - configure access to queue 'q.dlq' in vhost '/' refused for user 'lim'",
		},
		"alternate-exchange": {
			refusal(auth.Exchange, "secret", auth.Write), deleteExchange, func(ch *amqp.Channel) error {
				return ch.ExchangeDeclare("x", "direct", true, false, false, false, amqp.Table{"alternate-exchange": "secret"})
			},
			"ACCESS_REFUSED - write access to exchange 'secret' in vhost '/' refused for user 'lim'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			users := lacking("lim", "l", tc.refused)
			testkit.RunStored(t, func(c *supervision.Config) { c.Users = users }, func(b *testkit.Bubble) {
				b.Log.Allow("ACCESS_REFUSED")
				ch := b.Connect().Open()
				durable(b, ch, "q", nil)
				durableExchange(b, ch, "x", "direct")
				conn := b.ConnectAs("lim", "l")
				deleting, declaring := conn.Open(), conn.Open()
				release := b.Meta.Hold()
				deleted, declared := make(chan error, 1), make(chan error, 1)
				go func() { deleted <- tc.delete(deleting.Channel) }()
				synctest.Wait()
				if b.Queue("q") == nil || b.VHost().Directory().Exchange([]byte("x")) == nil {
					b.Fatal("it is gone before that is stored")
				}
				go func() { declared <- tc.declare(declaring.Channel) }()
				synctest.Wait()
				release()
				if err := <-deleted; err != nil {
					b.Error("delete:", err)
				}
				var e *amqp.Error
				if err := <-declared; !errors.As(err, &e) || e.Code != int(protocol.AccessRefused) || e.Reason != tc.want {
					b.Errorf("declare: %v", err)
				}
				if (b.Queue("q") == nil) == (b.VHost().Directory().Exchange([]byte("x")) == nil) {
					b.Error("it was made all the same")
				}
			})
		})
	}
}

func refusal(kind auth.Kind, name string, p auth.Permission) users.Refusal {
	return users.Refusal{User: "lim", Resource: auth.Resource{Kind: kind, Name: name}, Permission: p}
}
