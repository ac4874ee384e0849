package report

import (
	"time"

	"candlemark/cmd/candlemark-bench/bench/proc"
	"candlemark/cmd/candlemark-bench/bench/stats"
	"candlemark/cmd/candlemark-bench/bench/verify"
)

// Figure is a number that a run is judged by.
type Figure struct {
	Name  string // with its unit
	Value float64
}

// Result of a run.
type Result struct {
	Profile string    `json:"profile"`
	Flags   []string  `json:"flags"` // besides the profile's flags
	Label   string    `json:"label,omitempty"`
	URL     string    `json:"url"` // without user and password
	Broker  string    `json:"broker"`
	At      time.Time `json:"at"`
	Took    float64   `json:"took_s"`

	// Messages, from the first to the last, also those before latencies and rates count.
	Sent        int64 `json:"sent"`
	Received    int64 `json:"received"`
	Refused     int64 `json:"refused"`  // with a nack
	Returned    int64 `json:"returned"` // unroutable
	Redelivered int64 `json:"redelivered"`

	Figures  []Figure                  `json:"-"`
	Numbers  map[string]float64        `json:"figures"` // the same
	Latency  map[string]stats.Summary  `json:"latency"`
	Lateness map[string]stats.Lateness `json:"lateness,omitempty"`
	Verify   verify.Findings           `json:"verify"`
	// Cost of the broker; nil if it is unknown; NoCost has the reason.
	Cost    *Cost   `json:"cost,omitempty"`
	NoCost  string  `json:"no_cost,omitempty"`
	Client  Client  `json:"client"`
	Machine Machine `json:"machine"`
}

// Cost of the broker's processes.
type Cost struct {
	CPU           float64 `json:"cpu_s"`
	PerMillion    float64 `json:"cpu_s_per_million"` // messages sent
	Cores         float64 `json:"cores"`
	RSS           float64 `json:"rss_mib"`
	RSSChange     float64 `json:"rss_change_mib"`
	RSSPeak       float64 `json:"rss_peak_mib"`
	Files         int     `json:"files"`
	Threads       int     `json:"threads"`
	Processes     int     `json:"processes"`
	Written       float64 `json:"written_mib"`
	WrittenPerMsg float64 `json:"written_bytes_per_message"`
}

// Client is the cost of this program itself.
type Client struct {
	CPU        float64 `json:"cpu_s"`
	PerMillion float64 `json:"cpu_s_per_million"`
}

// Machine is the CPU use of other processes; above 0.2 cores or so the times mean little.
type Machine struct {
	Others float64 `json:"others_cores"`
	Stolen float64 `json:"stolen_cores"` // by the hypervisor
}

// MiB are bytes as MiB.
func MiB(n int64) float64 { return stats.Round(float64(n)/(1<<20), 1) }

// CostOf compares two samples; peak is the most resident memory between them, in bytes, and n how many messages were sent.
func CostOf(from, to proc.Sample, peak, n int64) *Cost {
	c := &Cost{
		CPU: stats.Round(to.CPU-from.CPU, 2), Cores: stats.Round((to.CPU-from.CPU)/max(to.At.Sub(from.At).Seconds(), 1e-3), 3),
		RSS: MiB(to.RSS), RSSChange: MiB(to.RSS - from.RSS), RSSPeak: MiB(max(peak, to.RSS)),
		Files: to.Files, Threads: to.Threads, Processes: to.Processes, Written: MiB(to.Written - from.Written),
	}
	if n > 0 {
		c.PerMillion = stats.Round((to.CPU-from.CPU)/float64(n)*1e6, 2)
		c.WrittenPerMsg = stats.Round(float64(to.Written-from.Written)/float64(n), 1)
	}
	return c
}

// Add adds a figure.
func (r *Result) Add(name string, value float64) {
	r.Figures = append(r.Figures, Figure{name, value})
	if r.Numbers == nil {
		r.Numbers = map[string]float64{}
	}
	r.Numbers[name] = value
}

// Rate is n a second.
func Rate(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return stats.Round(float64(n)/d.Seconds(), 1)
}
