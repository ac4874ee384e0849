package segment

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"candlemark/internal/storage/store"
	"candlemark/internal/storage/store/vfs"
)

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkAppend appends as queues do: 10 queues append batches of 20, with 1,000 messages outstanding in all, and
// remove messages 20,000 later.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{16, 100, 1 << 10, 100 << 10} {
		for _, acks := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dB,acks=%v", size, acks), func(b *testing.B) { benchmarkAppend(b, size, acks) })
		}
	}
}

func benchmarkAppend(b *testing.B, size int, acks bool) {
	const queues, batch = 10, 20
	j, _, err := Open(vfs.OS, b.TempDir()+"/journal", Options{})
	must(b, err)
	bodies := make([]byte, size+4096)
	for i := range bodies {
		bodies[i] = byte(rand.Uint32())
	}
	slots := make(chan []store.Record, 1000/batch)
	for range cap(slots) {
		slots <- make([]store.Record, batch)
	}
	key, header := []byte("orders.europe"), make([]byte, 20)
	var wait sync.WaitGroup
	b.ResetTimer()
	start := cpu()
	for i := 0; i*batch < b.N; i++ {
		records := <-slots
		q, first := store.QueueID(i%queues+1), uint64(i/queues*batch)
		for k := range records {
			at := (i*batch + k) % 4096
			records[k] = store.Record{
				Kind: store.Put, First: first + uint64(k), Last: first + uint64(k), Time: 1, Deadline: store.Never, TTL: -1,
				RoutingKey: key, Header: header, Body: bodies[at : at+size],
			}
		}
		wait.Add(1)
		j.Append(q, records, func(err error) {
			if err != nil {
				b.Error(err)
			}
			slots <- records
			wait.Done()
		})
		if acks && first >= 2000 {
			j.Append(q, []store.Record{{Kind: store.Delivered, First: first - 2000, Last: first - 2000 + batch - 1, Time: 1}}, nil)
			j.Append(q, []store.Record{{Kind: store.Remove, First: first - 2000, Last: first - 2000 + batch - 1, Time: 1}}, nil)
		}
	}
	wait.Wait()
	used := cpu() - start
	b.StopTimer()
	stats := j.Stats()
	n := float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "msg/s")
	b.ReportMetric(used.Seconds()/n*1e6, "CPU-s/M")
	b.ReportMetric(float64(stats.Written)/n/float64(size), "write-amp")
	b.ReportMetric(n/float64(stats.Batches), "msg/batch")
	must(b, j.Close())
}

// BenchmarkRecover opens a journal with a million messages after a crash and after a clean shutdown.
func BenchmarkRecover(b *testing.B) {
	for _, size := range []int{100, 1 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			dir := b.TempDir() + "/journal"
			j, _, err := Open(vfs.OS, dir, Options{})
			must(b, err)
			var wait sync.WaitGroup
			for i := range uint64(1000) {
				wait.Add(1)
				j.Append(store.QueueID(i%10+1), messages(i*1000, i*1000+999, string(make([]byte, size))), func(error) { wait.Done() })
			}
			wait.Wait()
			must(b, j.Close())
			b.ResetTimer()
			start := cpu()
			for b.Loop() {
				j, report, err := Open(vfs.OS, dir, Options{})
				must(b, err)
				if report.Messages != 1_000_000 {
					b.Fatalf("%+v", report)
				}
				b.StopTimer()
				must(b, j.Close())
				b.StartTimer()
			}
			b.ReportMetric((cpu()-start).Seconds()/float64(b.N), "CPU-s")
		})
	}
}

// BenchmarkRead reads a long queue from its head, in runs of 2,000.
func BenchmarkRead(b *testing.B) {
	const run, all = 2000, 100_000
	for _, size := range []int{100, 1 << 10} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			j, _, err := Open(vfs.OS, b.TempDir()+"/journal", Options{})
			must(b, err)
			var want []store.Ref
			for i := range uint64(all / run) {
				list := messages(i*run, (i+1)*run-1, string(make([]byte, size)))
				done := make(chan bool)
				j.Append(1, list, func(error) { close(done) })
				<-done
				want = append(want, refs(list)...)
			}
			b.ResetTimer()
			b.ReportAllocs()
			start := cpu()
			for i := 0; i < b.N; i += run {
				done := make(chan bool)
				j.Read(1, want[i%all:i%all+run], func(c []store.Content) {
					if c[run-1].Err != nil {
						b.Error(c[run-1].Err)
					}
					close(done)
				})
				<-done
			}
			b.ReportMetric((cpu()-start).Seconds()/float64(b.N)*1e6, "CPU-s/M")
			b.StopTimer()
			must(b, j.Close())
		})
	}
}

// BenchmarkOneOutstanding measures the latency of a publisher with one message outstanding.
func BenchmarkOneOutstanding(b *testing.B) {
	j, _, err := Open(vfs.OS, b.TempDir()+"/journal", Options{})
	must(b, err)
	records := messages(0, 0, string(make([]byte, 100)))
	done := make(chan error, 1)
	start := cpu()
	for i := range uint64(b.N) {
		records[0].First, records[0].Last = i, i
		j.Append(1, records, func(err error) { done <- err })
		must(b, <-done)
	}
	b.ReportMetric((cpu()-start).Seconds()/float64(b.N)*1e6, "CPU-s/M")
	must(b, j.Close())
}
