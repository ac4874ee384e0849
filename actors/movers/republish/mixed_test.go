package republish_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"candlemark/actors/system/mail"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology"
)

// mixedWays maps a routing key to the queues, of a, b and c, that it is routed to.
var mixedWays = map[string]string{"a": "a", "b": "b", "ab": "ab", "c": "c", "abc": "abc", "nowhere": ""}

// mixed makes the queues and the exchange dlx. It routes to b directly, to c through an exchange with a cap, and to a through one
// without, later than c.
func (h *fixture) mixed() map[string]*probe {
	targets := map[string]*probe{"a": h.queue("a"), "b": h.queue("b"), "c": h.queue("c")}
	dlx, capped, free := &topology.Exchange{Name: "dlx", Type: "direct"}, &topology.Exchange{Name: "1", Type: "fanout"}, &topology.Exchange{Name: "2", Type: "fanout"}
	h.exchange(capped, "", "", targets["c"])
	capped.Publish(capped.Routes().WithMaxTTL(70))
	h.exchange(free, "", "", targets["a"])
	h.exchange(dlx, "", "b", targets["b"])
	for key, to := range mixedWays {
		for name, target := range map[string]topology.Target{"a": {Exchange: free}, "b": {Queue: targets["b"].queue}, "c": {Exchange: capped}} {
			if !strings.Contains(to, name) {
				continue
			}
			binding := topology.Binding{Destination: name, RoutingKey: key}
			if x := target.Exchange; x != nil {
				binding.Destination, binding.ToExchange = x.Name, true
			}
			routes, _ := dlx.Routes().With(binding, target)
			dlx.Publish(routes)
		}
	}
	return targets
}

// mixedLetter returns n messages in runs of the same key, and the messages expected by each queue.
func mixedLetter(r *rand.Rand, source *probe, n int) (d *mail.DeadLetter, want map[string][]string) {
	d, want = pendingMessage(source, "expired", "dlx", 1, n), map[string][]string{}
	keys := slices.Sorted(maps.Keys(mixedWays))
	key := keys[0]
	for i := range d.Messages {
		if r.IntN(3) == 0 {
			key = keys[r.IntN(len(keys))]
		}
		m := &d.Messages[i]
		m.RoutingKey, m.Body = []byte(key), fmt.Append(nil, i)
		for name, ttl := range map[string]int{"a": message.NoTTL, "b": message.NoTTL, "c": 70} {
			if strings.Contains(mixedWays[key], name) {
				want[name] = append(want[name], fmt.Sprint(i, " ", key, " ", ttl))
			}
		}
	}
	return d, want
}

// Messages of one mail are routed to one queue, to several, through a cap, or nowhere, in any order: each target gets its
// messages in order (DL-31), and every message is answered once. The actor reuses that mail's slice for the first target.
func TestDL31_Random_MixedTargets(t *testing.T) {
	for seed := range uint64(40) {
		withFixture(t, func(h *fixture) {
			r := rand.New(rand.NewPCG(seed, 0))
			n := 1 + r.IntN(40)
			if seed < 2 {
				n = 3*mail.DeadLetterBatch + 1
			}
			source, targets := h.queue("source"), h.mixed()
			d, want := mixedLetter(r, source, n)
			d.Forward = seed%2 == 1 // or forwarded
			h.send(d)
			for name, p := range targets {
				var got []string
				for e := next(p); e != nil; e = next(p) {
					for _, m := range e.Messages {
						got = append(got, fmt.Sprint(string(m.Body), " ", string(m.RoutingKey), " ", m.TTL))
					}
					h.answer(e, false)
					e.Release()
				}
				if !slices.Equal(got, want[name]) {
					t.Errorf("seed %d: %s got %v, want %v", seed, name, got, want[name])
				}
			}
			answered := map[uint64]int{}
			for _, x := range source.mails {
				for _, ids := range x.(*mail.DeadLetterReply).IDs {
					for id := ids.First; id <= ids.Last; id++ {
						answered[id]++
					}
				}
			}
			for id := range uint64(n) {
				if times := answered[id+1]; times != 1 {
					t.Errorf("seed %d: %d is answered %d times", seed, id+1, times)
				}
			}
		})
	}
}

// next takes the next batch of p, nil if there is none.
func next(p *probe) *mail.Enqueue {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mails) == 0 {
		return nil
	}
	e := p.mails[0].(*mail.Enqueue)
	p.mails = p.mails[1:]
	return e
}
