package exposition

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/metrics"

	dto "github.com/prometheus/client_model/go"
)

// column is one number of every object of a kind.
type column[T any] struct {
	group, name, help string // RabbitMQ calls the group a family
	kind              dto.MetricType
	of                func(*T) float64
}

func gauge[T any](group, name, help string, of func(*T) float64) column[T] {
	return column[T]{group, name, help, dto.MetricType_GAUGE, of}
}

func counter[T any](group, name, help string, of func(*T) uint64) column[T] {
	return column[T]{group, name, help, dto.MetricType_COUNTER, func(t *T) float64 { return float64(of(t)) }}
}

// wants reports whether any of the columns is in a wanted group.
func wants[T any](columns []column[T], wanted func(group string) bool) bool {
	return slices.ContainsFunc(columns, func(c column[T]) bool { return wanted(c.group) })
}

// writeColumns writes the columns of the wanted groups. Their families share the labels of the objects.
func writeColumns[T any](w *writer, prefix string, columns []column[T], wanted func(string) bool, objects []T, labels func(*T) []string) {
	if len(objects) == 0 || !wants(columns, wanted) {
		return
	}
	values, rows := make([]float64, len(objects)), make([]*dto.Metric, len(objects))
	for i := range objects {
		rows[i] = newRow(&values[i], labels(&objects[i])...)
	}
	for _, c := range columns {
		if !wanted(c.group) {
			continue
		}
		name := c.name
		if !strings.HasPrefix(name, ownPrefix) {
			name = prefix + name
		}
		f := w.family(name, c.help, c.kind)
		for i := range objects {
			values[i] = c.of(&objects[i])
		}
		f.Metric = rows
		w.begin(nil) // before the values change
	}
}

// writeTimes writes the histograms of each queue: how long its messages waited and were processed.
func writeTimes(w *writer, queues []management.Queue) {
	write := func(name, help string, of func(*management.Queue) *metrics.SpanSummary) {
		for i := range queues {
			if t := of(&queues[i]); t != nil {
				w.histogram("candlemark_queue_"+name+"_seconds", help, t.Buckets, "vhost", queues[i].VHost, "queue", queues[i].Name)
			}
		}
	}
	write("wait", waitHelp, func(q *management.Queue) *metrics.SpanSummary { return q.Wait })
	write("processing", processingHelp, func(q *management.Queue) *metrics.SpanSummary { return q.Processing })
}

// find queries the objects of the wanted groups, in the given virtual hosts, or in all if none are given. times: with the
// histograms of queues, if their group is wanted.
func find(ctx context.Context, b management.Broker, wanted func(group string) bool, times bool, vhosts []string) (objects func(w *writer, prefix string), err error) {
	if len(vhosts) == 0 {
		vhosts = []string{""}
	}
	vhosts = slices.Compact(slices.Sorted(slices.Values(vhosts)))
	var queues []management.Queue
	var connections []management.Connection
	var channels []management.Channel
	var schedules []management.Schedule
	in := func(vhost string) bool { return vhosts[0] == "" || slices.Contains(vhosts, vhost) }
	if wants(queueColumns, wanted) {
		for _, v := range vhosts {
			list, err := b.Queues(ctx, v)
			if err != nil {
				return nil, err
			}
			queues = append(queues, list...)
		}
	}
	if wants(scheduleColumns, wanted) {
		for _, v := range vhosts {
			list, err := b.ListSchedules(ctx, v, "")
			if err != nil {
				return nil, err
			}
			schedules = append(schedules, list...)
		}
	}
	if wants(connectionColumns, wanted) {
		if connections, err = b.Connections(ctx, ""); err != nil {
			return nil, err
		}
		connections = slices.DeleteFunc(connections, func(c management.Connection) bool { return !in(c.VHost) })
	}
	if wants(channelColumns, wanted) {
		if channels, err = b.Channels(ctx, ""); err != nil {
			return nil, err
		}
		channels = slices.DeleteFunc(channels, func(c management.Channel) bool { return !in(c.VHost) })
	}
	return func(w *writer, prefix string) {
		writeColumns(w, prefix, queueColumns, wanted, queues, func(q *management.Queue) []string {
			return []string{"vhost", q.VHost, "queue", q.Name}
		})
		if times && wanted(queueAge) {
			writeTimes(w, queues)
		}
		writeColumns(w, prefix, scheduleColumns, wanted, schedules, func(s *schedule) []string {
			return []string{"vhost", s.VHost, "schedule", s.Name}
		})
		writeColumns(w, prefix, connectionColumns, wanted, connections, func(c *management.Connection) []string {
			return []string{"channel", c.Name} // RabbitMQ's name for it
		})
		writeColumns(w, prefix, channelColumns, wanted, channels, func(c *management.Channel) []string {
			return []string{"channel", c.Connection.Name + " (" + strconv.Itoa(c.Number) + ")", "vhost", c.VHost}
		})
	}, nil
}
