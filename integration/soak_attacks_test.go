package integration

import (
	"bytes"
	number "encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"candlemark/protocol"
)

const mebibyte = 1 << 20

// attacks each carry out one attack, from connecting to disconnecting. The user mallory has permissions on names that begin with
// "m" and may write to amq.default and candlemark.admin; nobody has no permissions at all. Both have the tag policymaker.
var attacks = map[string]func(b *broker) error{
	"the admin exchange is hijacked": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			return errors.Join(
				a.say(method(1, &protocol.QueueDeclare{Queue: "candlemark.admin"})), a.hear(1),
				a.say(method(1, &protocol.ChannelCloseOk{}), method(1, &protocol.ChannelOpen{})), a.hear(1),
				a.say(method(1, &protocol.QueueBind{Queue: "candlemark.admin", Exchange: "candlemark.admin", RoutingKey: "policy.set"})), a.hear(1))
		})
	},
	"a dead-letter exchange is raced": func(b *broker) error {
		return b.mallory(2, func(a *attacker) error {
			for range 20 {
				err := a.say(
					method(1, &protocol.QueueDeclare{Queue: "mrace", NoWait: true}), method(1, &protocol.QueueDelete{Queue: "mrace", NoWait: true}),
					method(2, &protocol.QueueDeclare{Queue: "mrace", NoWait: true, Arguments: protocol.Table{{Key: "x-dead-letter-exchange", Value: "forbidden"}}}),
					method(2, &protocol.ChannelOpen{}))
				if err := errors.Join(err, a.hear(1), a.say(method(2, &protocol.ChannelCloseOk{}), method(2, &protocol.ChannelOpen{})), a.hear(1)); err != nil {
					return err
				}
			}
			return nil
		})
	},
	"topic patterns without end": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			say := [][]byte{
				method(1, &protocol.ExchangeDeclare{Exchange: "mtopic", Type: "topic", NoWait: true}), method(1, &protocol.QueueDeclare{Queue: "mtopic", NoWait: true}),
			}
			for n := range 500 {
				key := strings.Builder{}
				for word := range 9 {
					key.WriteString([]string{"#.a.", "#.b.", "*.#."}[(n>>(word%3)+word)%3])
				}
				say = append(say, method(1, &protocol.QueueBind{Queue: "mtopic", Exchange: "mtopic", RoutingKey: fmt.Sprint(key.String(), n), NoWait: true}))
			}
			cc := make([]any, 100)
			for n := range cc {
				cc[n] = strings.Repeat("a.b.", 60) + fmt.Sprint(n)
			}
			p := &protocol.Properties{Headers: protocol.Table{{Key: "CC", Value: cc}}}
			say = append(say, begun(1, "mtopic", strings.Repeat("a.", 127), 0, p), method(1, &protocol.QueueDelete{Queue: "mtopic"}))
			return errors.Join(a.say(say...), a.hear(1))
		})
	},
	"answers to basic.get that nobody reads": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			say := [][]byte{method(1, &protocol.QueueDeclare{Queue: "mget", Exclusive: true, NoWait: true}), publishing(1, "", "mget", make([]byte, mebibyte))}
			for tag := range uint64(2000) {
				say = append(say, method(1, &protocol.BasicGet{Queue: "mget"}), protocol.AppendNackFrame(nil, 1, tag+1, false, true))
			}
			return errors.Join(a.say(say...), a.silence())
		})
	},
	"returned messages that nobody reads": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			body := make([]byte, mebibyte)
			for range 200 {
				if err := a.say(publishing(1, "", "m-nowhere", body)); err != nil {
					return err
				}
			}
			return nil
		})
	},
	"passive declares that nobody reads": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			one := method(1, &protocol.QueueDeclare{Queue: "mpassive", Passive: true})
			return errors.Join(a.say(method(1, &protocol.QueueDeclare{Queue: "mpassive", AutoDelete: true, NoWait: true}), bytes.Repeat(one, 200_000)), a.silence())
		})
	},
	"half messages of a user without permission": func(b *broker) error { return b.halves("nobody", 36) },
	"half messages": func(b *broker) error { return b.halves("mallory", 12) },
	"a transaction without end": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			err := errors.Join(a.say(method(1, &protocol.QueueDeclare{Queue: "mtx", AutoDelete: true, NoWait: true}), method(1, &protocol.TxSelect{})), a.hear(1))
			one := publishing(1, "", "mtx", make([]byte, mebibyte))
			for n := 0; n < 500 && err == nil; n++ {
				err = a.say(one)
			}
			return err
		})
	},
	"large answers to a queue": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			p := &protocol.Properties{Flags: protocol.FlagReplyTo, ReplyTo: "mpeek"}
			peek := []byte(`{"vhost":"/","queue":"mpeek","limit":1000,"truncate":1000000}`)
			say := [][]byte{method(1, &protocol.QueueDeclare{Queue: "mpeek", Exclusive: true, NoWait: true})}
			for range 20 {
				say = append(say, publishing(1, "", "mpeek", bytes.Repeat([]byte{0xff}, mebibyte)))
			}
			for range 150 {
				say = append(say, slices.Concat(begun(1, "candlemark.admin", "queue.peek", len(peek), p), protocol.AppendBodyFrames(nil, 1, peek, frameMax)))
			}
			return errors.Join(a.say(say...), a.silence())
		})
	},
	"a body to many queues": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			say := [][]byte{method(1, &protocol.ExchangeDeclare{Exchange: "mfan", Type: "fanout", NoWait: true})}
			for n := range 200 {
				name := fmt.Sprint("mfan", n)
				say = append(say, method(1, &protocol.QueueDeclare{Queue: name, Exclusive: true, NoWait: true}), method(1, &protocol.QueueBind{Queue: name, Exchange: "mfan", NoWait: true}))
			}
			say = append(say, publishing(1, "mfan", "", make([]byte, 4*mebibyte)), method(1, &protocol.QueueDeclare{Queue: "mfan0", Passive: true}))
			return errors.Join(a.say(say...), a.hear(1))
		})
	},
	"a history replayed to many queues": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			say := [][]byte{
				method(1, &protocol.ExchangeDeclare{Exchange: "mhistory", Type: "x-recent-history", AutoDelete: true, NoWait: true}),
				method(1, &protocol.QueueDeclare{Queue: "mhistory", Exclusive: true, NoWait: true}), method(1, &protocol.QueueBind{Queue: "mhistory", Exchange: "mhistory", NoWait: true}),
			}
			for range 16 {
				say = append(say, publishing(1, "mhistory", "", make([]byte, mebibyte)))
			}
			for n := range 200 {
				name := fmt.Sprint("mhistory", n)
				say = append(say, method(1, &protocol.QueueDeclare{Queue: name, Exclusive: true, NoWait: true}), method(1, &protocol.QueueBind{Queue: name, Exchange: "mhistory", NoWait: true}))
			}
			return errors.Join(a.say(say...), a.silence())
		})
	},
	"rules that enlarge": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			action := "SET a = 'x'" + strings.Repeat("; SET a = a + a", 12)
			for n := range 19 {
				action += fmt.Sprintf("; SET p%d = a", n)
			}
			say := [][]byte{
				method(1, &protocol.ExchangeDeclare{Exchange: "mrules", Type: "x-rules", AutoDelete: true, NoWait: true}),
				method(1, &protocol.QueueDeclare{Queue: "mrules", Exclusive: true, NoWait: true}),
			}
			for n := range 200 {
				say = append(say, method(1, &protocol.QueueBind{Queue: "mrules", Exchange: "mrules", RoutingKey: fmt.Sprint(n), NoWait: true, Arguments: protocol.Table{{Key: "x-rule-action", Value: action}}}))
			}
			for range 200 {
				say = append(say, publishing(1, "mrules", "", []byte("x")))
			}
			return errors.Join(a.say(say...), a.silence())
		})
	},
	"arguments of nothing": func(b *broker) error {
		return b.mallory(200, func(a *attacker) error {
			void := protocol.Table{{Key: "x-void", Value: make(protocol.Array, 120_000)}}
			one := method(1, &protocol.QueueDeclare{Queue: "mvoid", AutoDelete: true, NoWait: true, Arguments: void})
			say := [][]byte{one}
			for n := range uint16(200) {
				again := slices.Clone(one)
				number.BigEndian.PutUint16(again[1:], n+1)
				say = append(say, again)
			}
			return errors.Join(a.say(say...), a.silence())
		})
	},
	"channels, consumers and queues come and go": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			for n := range uint16(200) {
				err := errors.Join(a.say(
					method(n+2, &protocol.ChannelOpen{}), method(n+2, &protocol.ConfirmSelect{}), method(n+2, &protocol.QueueDeclare{Queue: "mchurn", AutoDelete: true}),
					publishing(n+2, "", "mchurn", []byte("x")), method(n+2, &protocol.BasicConsume{Queue: "mchurn"}), method(n+2, &protocol.ChannelClose{})), a.hear(8))
				if err != nil {
					return err
				}
			}
			return nil
		})
	},
	"many messages are purged": func(b *broker) error {
		return b.mallory(1, func(a *attacker) error {
			one := publishing(1, "", "mpurge", []byte("x"))
			args := protocol.Table{{Key: "x-max-priority", Value: int32(10)}}
			return errors.Join(a.say(method(1, &protocol.QueueDeclare{Queue: "mpurge", AutoDelete: true, Arguments: args, NoWait: true}),
				bytes.Repeat(one, 50_000), method(1, &protocol.QueuePurge{Queue: "mpurge"})), a.hear(1))
		})
	},
	"garbage": func(b *broker) error {
		a, err := b.attack("")
		if err != nil {
			return err
		}
		defer a.Close()
		return errors.Join(a.say([]byte("AMQP\x00\x00\x09\x01\x01\x00\x00\xff\xff\xff\xff"), bytes.Repeat([]byte{0xce}, 100_000)), a.silence())
	},
	"guessed passwords and forged log lines": func(b *broker) error {
		for n := range 3 {
			a, err := b.attack("")
			if err != nil {
				return err
			}
			_ = a.login("guest\nWRN \x1b[31malarm is over", fmt.Sprint(n)) // must fail
			_ = a.Close()
			_ = b.browse("guess"+fmt.Sprint(n), "GET", "/api/whoami", nil)
		}
		return nil
	},
	"numbers without end": func(b *broker) error {
		return errors.Join(
			b.browse("mallory", "PUT", "/api/policies/%2F/m", strings.NewReader(`{"pattern":"^m","definition":{"expires":600000},"priority":`+digits(900_000)+`}`)),
			b.browse("mallory", "GET", "/api/queues?page=9223372036854775807&page_size=100", nil),
			b.browse("mallory", "GET", "/api/x/queues/%2F/bystander/messages?limit="+digits(1000), nil))
	},
	"expressions without end": func(b *broker) error {
		return errors.Join(
			b.browse("mallory", "GET", "/api/queues?page=1&use_regex=true&name=%5E((a%2Ba%2B)%2B%5C2)%2B%24", nil),
			b.browse("mallory", "PUT", "/api/policies/%2F/slow", strings.NewReader(`{"pattern":"^(?:(?!x)(m+)+)+\\1$","definition":{"expires":600000}}`)),
			b.browse("mallory", "PUT", "/api/queues/%2F/"+strings.Repeat("m", 200)+"!", strings.NewReader(`{"auto_delete":true}`)))
	},
	"large bodies of nobody": func(b *broker) error {
		var all sync.WaitGroup
		body := make([]byte, 8*mebibyte) // shared by all requests, because the bystander's client runs in the same process
		for range 20 {
			all.Go(func() { _ = b.browse("", "PUT", "/api/policies/%2F/p", bytes.NewReader(body)) })
		}
		all.Wait()
		return nil
	},
	"idle connections to the API": func(b *broker) error {
		var idle []*attacker
		for range 40 {
			a, err := b.attackHTTP()
			if err != nil {
				break
			}
			idle = append(idle, a)
		}
		var err error
		for _, a := range idle {
			err = errors.Join(err, a.Close())
		}
		return err
	},
}

// mallory connects with n channels, calls do, and disconnects without a close.
func (b *broker) mallory(n int, do func(a *attacker) error) error {
	a, err := b.opened("mallory", n)
	if err != nil {
		return err
	}
	defer a.Close()
	return do(a)
}

// halves begins a message of 16 MiB on each of n channels, sends half of it, and stops.
func (b *broker) halves(user string, n int) error {
	a, err := b.opened(user, n)
	if err != nil {
		return err
	}
	defer a.Close()
	half := make([]byte, 8*mebibyte)
	for channel := uint16(1); channel <= uint16(n) && err == nil; channel++ {
		err = a.say(begun(channel, "", "mhalf", 16*mebibyte, nil), protocol.AppendBodyFrames(nil, channel, half, frameMax))
	}
	return errors.Join(err, a.silence())
}
