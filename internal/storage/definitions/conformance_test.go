package definitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"candlemark/internal/access/sas"

	"candlemark/integration/testkit/sandbox"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
	"candlemark/policies"
	"candlemark/policies/changes"
	"candlemark/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(sandbox.Of(m)) }

// keeper is a Store that can be reopened, as by the next process.
type keeper struct {
	Store
	reopen func(t *testing.T) *keeper
}

// both runs a test with both implementations.
func both(t *testing.T, test func(t *testing.T, m *keeper)) {
	t.Run("memory", func(t *testing.T) { test(t, memoryKeeper(t, NewMemory())) })
	t.Run("file", func(t *testing.T) { test(t, fileKeeper(t, t.TempDir())) })
}

func memoryKeeper(t *testing.T, m *Memory) *keeper {
	t.Cleanup(func() { _ = m.Close() })
	return &keeper{m, func(t *testing.T) *keeper { return memoryKeeper(t, m.Reopen()) }}
}

func fileKeeper(t *testing.T, dir string) *keeper {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &keeper{f, func(t *testing.T) *keeper {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		return fileKeeper(t, dir)
	}}
}

func (k *keeper) must(t *testing.T, c Change) uint64 {
	t.Helper()
	revision, err := Wait(k, c)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func (k *keeper) all(t *testing.T) *Definitions {
	t.Helper()
	d, err := k.Load()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func put(values ...any) Change    { return Change{Put: values} }
func remove(values ...any) Change { return Change{Delete: values} }

// everyType has a value of every wire type.
var everyType = protocol.Table{
	{Key: "t", Value: true},
	{Key: "b", Value: int8(-2)},
	{Key: "B", Value: uint8(254)},
	{Key: "s", Value: int16(-3)},
	{Key: "u", Value: uint16(65533)},
	{Key: "I", Value: int32(-4)},
	{Key: "i", Value: uint32(1 << 31)},
	{Key: "l", Value: int64(60000)},
	{Key: "f", Value: float32(1.5)},
	{Key: "d", Value: 60000.0},
	{Key: "D", Value: protocol.Decimal{Scale: 2, Value: -314}},
	{Key: "S", Value: "text\xff"},
	{Key: "x", Value: []byte{1, 2}},
	{Key: "T", Value: protocol.Timestamp(1 << 40)},
	{Key: "V", Value: nil},
	{Key: "F", Value: protocol.Table{{Key: "in", Value: protocol.Array{int64(1), nil, "s"}}}},
}

func policy(vhost, name string, operator bool) *policies.Policy {
	p, err := policies.Parse(vhost, name, operator, []byte(`{"pattern":"^a<b","definition":{"message-ttl":60000},"priority":1.5}`))
	if err != nil {
		panic(err)
	}
	return p
}

// sample has one object of each kind in a virtual host, with all fields set.
func sample(vhost string) *Definitions {
	return &Definitions{
		Incarnation: 7,
		VHosts: []auth.VHost{{
			Name: vhost, Description: "d", Tags: []string{"x", "y"}, DefaultQueueType: "quorum",
			Tracing: true, Protected: true, Limits: auth.Limits{auth.MaxQueues: 3},
		}},
		Accounts: []auth.Account{{
			Name: "ann", Tags: []string{"administrator"}, Hash: []byte{0, 1, 255}, Algorithm: auth.SHA512,
			Limits: auth.Limits{auth.MaxChannels: 1}, Keys: sas.Keys{Primary: "one", Secondary: "two"},
		}},
		Grants:      []auth.Grant{{User: "ann", VHost: vhost, Configure: "^c<", Write: ".*", Read: "r"}},
		TopicGrants: []auth.TopicGrant{{User: "ann", VHost: vhost, Exchange: "amq.topic", Write: "w", Read: "r"}},
		Exchanges:   []Exchange{{VHost: vhost, Name: "x\x00", Type: "topic", AutoDelete: true, Internal: true, Arguments: everyType, User: "ann"}},
		Queues: []Queue{
			{VHost: vhost, Name: "ends", Type: "classic", Incarnation: 6, AutoDelete: true, Arguments: everyType, Ending: "lease", User: "ann"},
			{VHost: vhost, Name: "q\xff", Type: "quorum", Incarnation: 7, AutoDelete: true, Arguments: everyType},
		},
		Bindings: []Binding{
			{VHost: vhost, Source: "x\x00", Destination: "q\xff", RoutingKey: "a.\x00\x01#", Arguments: everyType, User: "ann"},
			{VHost: vhost, Source: "x\x00", Destination: "q\xff", ToExchange: true, RoutingKey: ""},
		},
		Policies: []*policies.Policy{policy(vhost, "same", true), policy(vhost, "same", false)},
		History: []*changes.Change{{
			VHost: vhost, ID: 9, At: 1 << 40, By: changes.By{User: "ann", Interface: "http"}, Undoes: 7, Count: 3,
			Edits: []changes.Edit{{After: policy(vhost, "a", false)}, {Before: policy(vhost, "b", true)}, {Before: policy(vhost, "c", true), After: policy(vhost, "c", true)}},
		}, {VHost: vhost, ID: 10, Count: 4000}},
		Parameters: []Parameter{{Component: "shovel", VHost: vhost, Name: "p", Value: json.RawMessage(`{"a":[1,2.0]}`), Setter: parameters.Setter{User: "u", Operator: true}}},
		Globals:    []Global{{Name: "cluster_name", Value: json.RawMessage(`"rabbit <1>"`)}},
	}
}

// change returns a change that puts all objects.
func (d *Definitions) change() (c Change) {
	v := reflect.ValueOf(*d)
	for i := range v.NumField() {
		if list := v.Field(i); list.Kind() == reflect.Slice {
			for j := range list.Len() {
				c.Put = append(c.Put, list.Index(j).Interface())
			}
		}
	}
	return c
}

// All definitions are loaded unchanged, argument tables with their wire types. No field of sample is empty.
func TestEverythingSurvives(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		want := sample("/")
		want.Revision = m.must(t, want.change())
		for range 2 {
			if got := m.all(t); !equal(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if m.Revision() != want.Revision || want.Revision != 1 {
				t.Errorf("revision %d of %d", m.Revision(), want.Revision)
			}
			m = m.reopen(t)
		}
	})
	for _, list := range []any{
		sample("/").VHosts, sample("/").Accounts, sample("/").Grants, sample("/").TopicGrants,
		sample("/").Exchanges, sample("/").Queues, sample("/").Bindings[:1], sample("/").Parameters, sample("/").Globals,
		[]changes.Change{*sample("/").History[0]},
	} {
		one := reflect.ValueOf(list).Index(0)
		for i := range one.NumField() {
			if f := one.Type().Field(i); one.Field(i).IsZero() && f.Name != "ToExchange" {
				t.Errorf("the sample has no %s.%s", one.Type(), f.Name)
			}
		}
	}
}

// equal compares policies with Equal, and the history by content.
func equal(a, b *Definitions) bool {
	x, y := *a, *b
	same := slices.EqualFunc(x.Policies, y.Policies, (*policies.Policy).Equal) &&
		slices.EqualFunc(x.History, y.History, func(a, b *changes.Change) bool {
			one, _ := content(a)
			other, _ := content(b)
			return a.VHost == b.VHost && a.ID == b.ID && len(a.Edits) == len(b.Edits) && string(one) == string(other)
		})
	x.Policies, y.Policies, x.History, y.History = nil, nil, nil, nil
	return same && reflect.DeepEqual(x, y)
}

func TestListsAreSorted(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		m.must(t, put(auth.VHost{Name: "b"}, auth.VHost{Name: ""}, auth.VHost{Name: "a\x00"}, auth.VHost{Name: "a"}, auth.VHost{Name: "ab"}))
		for _, name := range []string{"b\x00", "b", "bb"} {
			for _, vhost := range []string{"b", "a", "ab", "a\x00"} {
				m.must(t, put(Exchange{VHost: vhost, Name: name, Type: "fanout"}))
			}
		}
		var got []string
		for _, x := range m.all(t).Exchanges {
			got = append(got, x.VHost+"/"+x.Name)
		}
		want := []string{
			"a/b", "a/b\x00", "a/bb", "a\x00/b", "a\x00/b\x00", "a\x00/bb",
			"ab/b", "ab/b\x00", "ab/bb", "b/b", "b/b\x00", "b/bb",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

// Concurrent changes are answered in order, each with its own revision, and the last value is kept.
func TestOrderAndRevisions(t *testing.T) {
	const n = 2000
	both(t, func(t *testing.T, m *keeper) {
		m.must(t, put(auth.VHost{Name: "/"}))
		var wg sync.WaitGroup
		var order, revisions []uint64 // done is called by one goroutine at a time
		for i := range uint64(n) {
			wg.Add(1)
			m.Apply(put(Queue{VHost: "/", Name: fmt.Sprint(i % 7), Incarnation: i}), func(revision uint64, err error) {
				defer wg.Done()
				if err != nil {
					t.Error(err)
				}
				order, revisions = append(order, i), append(revisions, revision)
			})
		}
		wg.Wait()
		for i := range uint64(n) {
			if order[i] != i || revisions[i] != i+2 {
				t.Fatalf("answer %d is to change %d, with revision %d", i, order[i], revisions[i])
			}
		}
		d := m.reopen(t).all(t)
		if d.Revision != n+1 || d.Incarnation != n-1 || len(d.Queues) != 7 || d.Queues[0].Incarnation != (n-1)/7*7 {
			t.Errorf("got %+v", d)
		}
	})
}

// The highest incarnation never decreases.
func TestIncarnation(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		m.must(t, put(auth.VHost{Name: "/"}, Queue{VHost: "/", Name: "q", Incarnation: 9}))
		for i, step := range []Change{put(Incarnation(8)), remove(Queue{VHost: "/", Name: "q"}), put(Incarnation(100)), put(Incarnation(50))} {
			m.must(t, step)
			m = m.reopen(t)
			if got, want := m.all(t).Incarnation, []uint64{9, 9, 100, 100}[i]; got != want {
				t.Errorf("step %d: %d, want %d", i, got, want)
			}
		}
	})
}

// A change is stored completely or not at all, even in a group with others.
func TestAllOrNothing(t *testing.T) {
	wrong := []any{
		42,
		Queue{VHost: "gone", Name: "q"},
		Global{Name: "g", Value: json.RawMessage("{")},
		Queue{VHost: "/", Name: "q", Arguments: protocol.Table{{Key: "k", Value: 1}}}, // an int has no wire type
		Parameter{VHost: "/", Name: string(make([]byte, maxKey)), Value: json.RawMessage("1")},
	}
	both(t, func(t *testing.T, m *keeper) {
		m.must(t, put(auth.VHost{Name: "/"}, Queue{VHost: "/", Name: "before", Type: "classic"}))
		for i, v := range wrong {
			refused := make(chan error, 1)
			m.Apply(Change{Delete: []any{Queue{VHost: "/", Name: "before"}}, Put: []any{Queue{VHost: "/", Name: "half"}, v}},
				func(_ uint64, err error) { refused <- err })
			m.must(t, put(Queue{VHost: "/", Name: fmt.Sprint("after", i), Type: "classic"}))
			if err := <-refused; err == nil {
				t.Errorf("%v was stored", v)
			}
		}
		d := m.reopen(t).all(t)
		if len(d.Queues) != 1+len(wrong) || d.Queues[len(wrong)].Name != "before" {
			t.Errorf("got %+v", d.Queues)
		}
		if want := uint64(1 + len(wrong)); d.Revision != want {
			t.Errorf("revision %d, want %d", d.Revision, want)
		}
	})
}

// An object cannot be put into a virtual host that does not exist at this point of the change.
func TestNothingWithoutAVHost(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		q := Queue{VHost: "v", Name: "q"}
		steps := []struct {
			change Change
			want   error
		}{
			{put(q), ErrNoVHost},
			{put(q, auth.VHost{Name: "v"}), nil},
			{Change{Delete: []any{auth.VHost{Name: "v"}}, Put: []any{q}}, ErrNoVHost},
			{Change{Delete: []any{auth.VHost{Name: "v"}}, Put: []any{auth.VHost{Name: "v"}}}, nil},
			{put(policy("w", "p", false)), ErrNoVHost},
			{remove(auth.VHost{Name: "v"}), nil},
			{put(q), ErrNoVHost},
		}
		for i, s := range steps {
			if _, err := Wait(m, s.change); !errors.Is(err, s.want) {
				t.Errorf("step %d: %v", i, err)
			}
		}
		if d := m.all(t); len(d.Queues)+len(d.VHosts) != 0 {
			t.Errorf("left: %+v", d)
		}
	})
}

// A queue that is ending keeps its incarnation, and loses its bindings; nothing is recorded as deleted (LEASE-14).
func TestEndingQueuesLoseTheirBindings_LEASE14(t *testing.T) {
	both(t, func(t *testing.T, m *keeper) {
		q, other := Queue{VHost: "/", Name: "q", Type: "classic", Incarnation: 9}, Queue{VHost: "/", Name: "other", Type: "classic", Incarnation: 10}
		to := func(queue string) Binding {
			return Binding{VHost: "/", Source: "amq.direct", Destination: queue, RoutingKey: "k"}
		}
		m.must(t, put(auth.VHost{Name: "/"}, q, other, to("q"), to("other")))
		q.Ending = "lease"
		m.must(t, put(q))
		for range 2 {
			d := m.all(t)
			if len(d.Queues) != 2 || d.Queues[1].Ending != "lease" || d.Queues[1].Incarnation != 9 || len(d.Ended) != 0 || len(d.Bindings) != 1 || d.Bindings[0].Destination != "other" {
				t.Errorf("%+v", d)
			}
			m = m.reopen(t)
		}
		m.must(t, remove(q))
		if d := m.all(t); len(d.Queues) != 1 || len(d.Ended) != 1 {
			t.Errorf("%+v", d)
		}
	})
}
