package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// maker declares, binds, unbinds and deletes its own queues and exchanges as fast as the broker answers, and records which of
// them must exist.
type maker struct {
	*testing.T
	id     int
	random *rand.Rand
	have   map[string]bool // confirmed by an answer, by "kind name"
	doubt  map[string]bool // affected by the request that was pending when the broker was killed
	done   int
}

const (
	makers     = 6
	makerNames = 150
)

// step makes one change. Dependent objects, such as the bindings of a queue, are deleted with it.
func (m *maker) step(c *client) error {
	n, k := m.random.IntN(makerNames), m.random.IntN(makerNames)
	queue, exchange := fmt.Sprintf("q%d.%d", m.id, n), fmt.Sprintf("x%d.%d", m.id, k)
	binding := exchange + " " + queue
	m.doubt = map[string]bool{}
	var made, gone []string
	var err error
	switch m.random.IntN(7) {
	case 0, 1:
		made = []string{queue}
		_, err = c.QueueDeclare(queue, true, false, false, false, amqp.Table{"x-max-length": n + 1})
	case 2:
		made = []string{exchange}
		err = c.ExchangeDeclare(exchange, "topic", true, false, false, false, nil)
	case 3, 4:
		if !m.have[queue] || !m.have[exchange] {
			return nil
		}
		made = []string{binding}
		err = c.QueueBind(queue, "key", exchange, false, amqp.Table{"n": n})
	case 5:
		if !m.have[binding] {
			return nil
		}
		gone = []string{binding}
		m.doubt[binding] = true
		err = c.QueueUnbind(queue, "key", exchange, amqp.Table{"n": n})
	case 6:
		if gone = []string{queue}; m.random.IntN(2) == 0 {
			for k := range makerNames {
				gone = append(gone, fmt.Sprintf("x%d.%d %s", m.id, k, queue))
			}
			m.doubts(gone)
			_, err = c.QueueDelete(queue, false, false, false)
		} else {
			gone = []string{exchange}
			for n := range makerNames {
				gone = append(gone, fmt.Sprintf("%s q%d.%d", exchange, m.id, n))
			}
			m.doubts(gone)
			err = c.ExchangeDelete(exchange, false, false)
		}
	}
	if len(made) > 0 && !m.have[made[0]] {
		m.doubts(made)
	}
	if err != nil {
		return err
	}
	m.doubt = nil
	for _, x := range made {
		m.have[x] = true
	}
	for _, x := range gone {
		delete(m.have, x)
	}
	m.done++
	return nil
}

func (m *maker) doubts(names []string) {
	for _, x := range names {
		m.doubt[x] = true
	}
}

// names returns the names in the broker's lists of objects.
func (b *broker) names() map[string]bool {
	b.Helper()
	all := map[string]bool{}
	for _, path := range []string{"queues", "exchanges", "bindings"} {
		var list []struct{ Name, Source, Destination string }
		if err := json.Unmarshal([]byte(b.request("GET", "/api/"+path+"/"+url.PathEscape("/"), "", 200)), &list); err != nil {
			b.Fatal(err)
		}
		for _, x := range list {
			if path == "bindings" && x.Source != "" {
				all[x.Source+" "+x.Destination] = true
			} else if path != "bindings" {
				all[x.Name] = true
			}
		}
	}
	return all
}

// A broker that is killed while thousands of definitions are created and deleted has exactly the confirmed ones; a
// pending change was made completely or not at all.
func TestKilledWhileDeclaring(t *testing.T) {
	t.Parallel()
	seed := loggedSeed(t)
	r := rand.New(rand.NewPCG(seed, 4))
	dir := filepath.Join(t.TempDir(), "data")
	var all []*maker
	for id := range makers {
		all = append(all, &maker{T: t, id: id, random: rand.New(rand.NewPCG(seed, uint64(100+id))), have: map[string]bool{}})
	}
	b := startIn(t, dir)
	for range *crashRounds {
		var working sync.WaitGroup
		for _, m := range all {
			c := b.dial()
			working.Go(func() {
				for m.step(c) == nil {
				}
			})
		}
		<-time.After(time.Duration(200+r.IntN(1200)) * time.Millisecond) // chosen by the test
		b.kill()
		working.Wait()
		b = startIn(t, dir)
		there := b.names()
		for _, m := range all {
			m.compare(there)
		}
		for name := range there {
			if strings.HasPrefix(name, "q") || strings.HasPrefix(name, "x") {
				t.Errorf("%s is there", name)
			}
		}
	}
	done := 0
	for _, m := range all {
		done += m.done
	}
	t.Logf("%d done", done)
}

// compare checks that the maker's own objects exist, and removes them from there.
func (m *maker) compare(there map[string]bool) {
	m.Helper()
	for name := range m.have {
		if !there[name] && !m.doubt[name] {
			m.Errorf("%s is lost", name)
		}
	}
	for name := range m.doubt {
		if there[name] {
			m.have[name] = true
		} else {
			delete(m.have, name)
		}
	}
	for name := range m.have {
		delete(there, name)
	}
}
