package shape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"candlemark/cmd/candlemark-bench/bench/load"
	"candlemark/cmd/candlemark-bench/bench/proc"
	"candlemark/cmd/candlemark-bench/bench/profile"
	"candlemark/cmd/candlemark-bench/bench/report"
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/wire"
	"candlemark/internal/storage/parameters"
	"candlemark/protocol"
)

// Bench is a run against one broker.
type Bench struct {
	*profile.Settings
	Context  context.Context // that ends the publishing early
	Progress io.Writer       // gets a line now and then; nil for none
	HTTP     string          // address of the HTTP API; "" for none

	run     *load.Run
	name    string // begins the names of what the run makes
	control *wire.Conn
	made    []func() // how to remove it, in reverse
	broker  *proc.Target
	noCost  string
	self    *proc.Target
	result  *report.Result
	late    map[string]*stats.Signed // how late messages came, by figure
	meter   *meter
	watch   *proc.Watch

	began                   time.Time
	sampled                 proc.Sample
	client0, busy0, stolen0 float64
}

// Run carries out what the settings say against the broker at an address; pids are its processes, nil for the processes
// that listen there.
func (b *Bench) Run(address string, pids []int) (result *report.Result, err error) {
	if err := b.connect(address, pids); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.clean()) }()
	b.begin()
	switch b.Profile.Shape {
	case profile.RPC:
		err = b.rpc()
	case profile.Expiry:
		err = b.expiry()
	case profile.Delays:
		err = b.delays()
	case profile.MassExpiry:
		err = b.massExpiry()
	case profile.Idle:
		err = b.idle()
	default:
		err = b.stream()
	}
	b.end()
	return b.result, err
}

func (b *Bench) connect(address string, pids []int) error {
	uri, err := parameters.ParseURI(address)
	if err != nil {
		return err
	}
	b.run = load.NewRun(rand.Uint32(), wire.Config{URI: uri, Heartbeat: uint16(b.Heartbeat)})
	b.run.AMQP10 = b.Protocol == "1.0"
	b.name = fmt.Sprintf("bench.%08x.", b.run.ID)
	if uri.TLS != nil {
		if b.run.Wire.TLS, err = uri.TLS.Config(os.ReadFile); err != nil {
			return err
		}
	}
	if b.broker, err = proc.Find(pids, b.run.Wire.Address()); err != nil {
		b.noCost = err.Error()
	}
	b.self = proc.Self()
	if b.control, err = b.dial(); err != nil {
		return err
	}
	b.result = &report.Result{
		Profile: b.Profile.Name, Flags: b.Given, Label: b.Label, URL: uri.String(), Broker: b.control.Product(), NoCost: b.noCost,
		Latency: map[string]stats.Summary{},
	}
	return nil
}

// dial connects and opens a channel.
func (b *Bench) dial() (*wire.Conn, error) {
	c, err := wire.Dial(b.run.Wire)
	if err == nil {
		if err = c.Open(1); err != nil {
			_ = c.Close()
		}
	}
	return c, err
}

// begin takes the first samples.
func (b *Bench) begin() {
	b.began = time.Now()
	b.result.At = b.began.UTC()
	b.busy0, b.stolen0 = proc.Machine()
	b.client0 = b.clientCPU()
	b.sample()
	b.meter = newMeter(b)
}

// sample begins to count the broker's cost, or begins again.
func (b *Bench) sample() {
	if b.broker == nil {
		return
	}
	if b.watch != nil {
		b.watch.Stop()
	}
	b.sampled, b.watch = b.broker.Sample(), b.broker.Watch(100*time.Millisecond)
}

// end takes the last samples.
func (b *Bench) end() {
	r, took := b.result, max(time.Since(b.began).Seconds(), 1e-3)
	r.Took = stats.Round(took, 3)
	busy, stolen := proc.Machine()
	mine := b.clientCPU() - b.client0
	r.Client.CPU = stats.Round(mine, 2)
	if r.Sent > 0 {
		r.Client.PerMillion = stats.Round(mine/float64(r.Sent)*1e6, 2)
	}
	r.Machine.Stolen = stats.Round((stolen-b.stolen0)/took, 3)
	if b.broker != nil {
		peak := b.watch.Stop()
		last := b.broker.Sample()
		r.Cost = report.CostOf(b.sampled, last, peak, r.Sent)
		r.Machine.Others = stats.Round(max(0, busy-b.busy0-mine-(last.CPU-b.sampled.CPU))/took, 3)
	}
	for name, recorder := range b.run.Recorders() {
		if total := recorder.Total(); total.Count() > 0 {
			r.Latency[name] = total.Summary()
		}
	}
	for name, late := range b.late {
		if r.Lateness == nil {
			r.Lateness = map[string]stats.Lateness{}
		}
		r.Lateness[name] = late.Lateness()
	}
	r.Judge()
}

func (b *Bench) clientCPU() float64 {
	if b.self == nil {
		return 0
	}
	return b.self.Sample().CPU
}

// clean removes what the run made, and disconnects.
func (b *Bench) clean() error {
	for len(b.made) > 0 {
		last := len(b.made) - 1
		b.made[last]()
		b.made = b.made[:last]
	}
	return b.control.Close()
}

// queue declares a queue, which is deleted at the end if the run gave it its name.
func (b *Bench) queue(name string, args protocol.Table) error {
	if b.Predeclared {
		return nil
	}
	if b.Named() == nil {
		b.made = append(b.made, func() { _, _ = b.control.Call(1, &protocol.QueueDelete{Queue: name}) })
	}
	_, err := b.control.Call(1, &protocol.QueueDeclare{Queue: name, Durable: b.Persistent, Arguments: args})
	return err
}

// exchange declares an exchange, which is deleted at the end.
func (b *Bench) exchange(name, kind string, args protocol.Table) error {
	b.made = append(b.made, func() { _, _ = b.control.Call(1, &protocol.ExchangeDelete{Exchange: name}) })
	_, err := b.control.Call(1, &protocol.ExchangeDeclare{Exchange: name, Type: kind, Durable: b.Persistent, Arguments: args})
	return err
}

func (b *Bench) bind(queue, exchange, key string) error {
	_, err := b.control.Call(1, &protocol.QueueBind{Queue: queue, Exchange: exchange, RoutingKey: key})
	return err
}

// queues returns the names of the queues that messages go through.
func (b *Bench) queues() (names []string) {
	if names = b.Named(); names == nil {
		for i := range b.Queues {
			names = append(names, fmt.Sprint(b.name, "q", i))
		}
	}
	return names
}
