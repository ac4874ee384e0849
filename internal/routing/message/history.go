package message

import "candlemark/protocol"

// History returns the history that a client published in x-death, for queues that continue it (DL-23). It is nil if
// raw, a property list, has none, or one that does not have the broker's own form: then a new history begins.
func History(raw []byte) *Overlay {
	scan, err := protocol.ScanProperties(raw)
	if err != nil || len(scan.Headers) == 0 {
		return nil
	}
	v, _, err := protocol.LookupField(scan.Headers, "x-death")
	list, ok := v.(protocol.Array)
	if err != nil || !ok || len(list) == 0 {
		return nil
	}
	var o Overlay
	for _, entry := range list {
		d, ok := parseDeath(entry)
		if !ok {
			return nil
		}
		o.Deaths = append(o.Deaths, d)
	}
	first, last := o.Deaths[len(o.Deaths)-1], o.Deaths[0]
	o.First = parseOrigin(scan.Headers, "x-first-death-", Origin{first.Queue, first.Reason, first.Exchange})
	o.Last = parseOrigin(scan.Headers, "x-last-death-", Origin{last.Queue, last.Reason, last.Exchange})
	return &o
}

// parseDeath returns the inverse of Death.table.
func parseDeath(entry any) (Death, bool) {
	t, ok := entry.(protocol.Table)
	if !ok {
		return Death{}, false
	}
	var d Death
	d.Queue, d.Reason, d.Exchange = text(t, "queue"), text(t, "reason"), text(t, "exchange")
	d.OriginalExpiration = text(t, "original-expiration")
	count, _ := t.Get("count")
	if d.Count, ok = protocol.Int64(count); !ok || d.Count < 1 || d.Queue == "" || d.Reason == "" {
		return Death{}, false
	}
	if at, found := t.Get("time"); found {
		seconds, _ := at.(protocol.Timestamp)
		d.Time = int64(seconds)
	}
	keys, _ := t.Get("routing-keys")
	list, _ := keys.(protocol.Array)
	for _, k := range list {
		if s, isText := k.(string); isText {
			d.RoutingKeys = append(d.RoutingKeys, s)
		}
	}
	return d, true
}

func text(t protocol.Table, key string) string {
	v, _ := t.Get(key)
	s, _ := v.(string)
	return s
}

func parseOrigin(headers []byte, prefix string, otherwise Origin) Origin {
	lookup := func(key string) (string, bool) {
		v, _, err := protocol.LookupField(headers, prefix+key)
		s, ok := v.(string)
		return s, ok && err == nil
	}
	queue, hasQueue := lookup("queue")
	reason, hasReason := lookup("reason")
	exchange, hasExchange := lookup("exchange")
	if !hasQueue || !hasReason || !hasExchange {
		return otherwise
	}
	return Origin{queue, reason, exchange}
}
