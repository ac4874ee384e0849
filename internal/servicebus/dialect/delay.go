package dialect

import (
	"fmt"
	"math"
	"strings"

	"candlemark/internal/measure/clock"
	"candlemark/internal/routing/message"
	"candlemark/internal/routing/topology/timeheaders"
	"candlemark/protocol"
	"candlemark/protocol/amqp10"
)

// Annotations that delay a delivery: of a message that is sent (DLY-16), or returned (RETRY-2, RETRY-5).
const (
	deliveryTime  = "x-opt-delivery-time"  // ms since 1970
	deliveryDelay = "x-opt-delivery-delay" // ms
)

// DelayedDelivery is the capability that clients look for before they send messages with delays (DLY-16).
const DelayedDelivery amqp10.Symbol = "DELAYED_DELIVERY"

// Delay is how long a delivery is delayed at least. The zero value stands for no delay.
type Delay struct {
	Date  int64 // wall ms, 0 for none
	After int64 // ms
}

// DelayOf reads the values of x-opt-delivery-time and x-opt-delivery-delay, nil if absent or null. The error is
// amqp:precondition-failed for a value that is no integral number, negative, or a date before 1973.
func DelayOf(date, after any) (d Delay, err error) {
	ok := true
	if date != nil {
		if d.Date, ok = milliseconds(date); !ok || d.Date < timeheaders.EarliestMoment {
			return Delay{}, amqp10.Errorf(amqp10.PreconditionFailed, "invalid '%s': %s is not a time in milliseconds since 1970", deliveryTime, shown(date))
		}
	}
	if after != nil {
		if d.After, ok = milliseconds(after); !ok || d.After < 0 {
			return Delay{}, amqp10.Errorf(amqp10.PreconditionFailed, "invalid '%s': %s is not a number of milliseconds", deliveryDelay, shown(after))
		}
	}
	return d, nil
}

// ErrTooFar is the error for a delivery more than ten years away.
func ErrTooFar() error {
	return amqp10.Errorf(amqp10.PreconditionFailed, "the time of delivery is more than 10 years away")
}

// IsDelay reports whether an annotation delays a delivery.
func IsDelay(key string) bool { return key == deliveryTime || key == deliveryDelay }

// DelayIn is DelayOf for the annotations of a message that a consumer returns.
func DelayIn(annotations amqp10.Map) (Delay, error) {
	date, _ := annotations.Get(deliveryTime)
	after, _ := annotations.Get(deliveryDelay)
	return DelayOf(date, after)
}

// Until returns the date, in wall ms, until which a delivery is delayed from now on; 0 for no delay. The error is
// amqp:precondition-failed for more than ten years.
func (d Delay) Until(c *clock.Clock) (date int64, err error) {
	if d == (Delay{}) {
		return 0, nil
	}
	dates := c.Dates()
	dates.Read()
	now := dates.Date(c.Now().Ceil())
	if max(d.After, d.Date-now) > timeheaders.MaxDelay {
		return 0, ErrTooFar()
	}
	if d.After > 0 {
		d.Date = max(d.Date, now+d.After)
	}
	return d.Date, nil
}

// DelayedUntil returns the date, in wall ms, before which a message that a consumer returns with these annotations is not
// delivered again; 0 for none. Errors: those of DelayOf and Until.
func DelayedUntil(annotations amqp10.Map, c *clock.Clock) (date int64, err error) {
	d, err := DelayIn(annotations)
	if err != nil {
		return 0, err
	}
	return d.Until(c)
}

// shown returns a value for an error text, shortened.
func shown(v any) string {
	text := fmt.Sprint(v)
	return strings.ToValidUTF8(text[:min(len(text), 80)], "")
}

// milliseconds returns a number without a fraction, or a timestamp; ok is false for other values. Clients for
// JavaScript send doubles.
func milliseconds(v any) (ms int64, ok bool) {
	switch v := v.(type) {
	case amqp10.Timestamp:
		return int64(v), true
	case uint64:
		return int64(min(v, math.MaxInt64)), true
	case float32:
		return milliseconds(float64(v))
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<62
	}
	return protocol.Int64(v)
}

// DelayBy replaces the delay of the annotations by headers of 0-9-1: x-delay, unless 0, and x-deliver-at, unless 0. The
// error is amqp:resource-limit-exceeded.
func (c *Content) DelayBy(ms, date int64) error {
	p, err := protocol.DecodeProperties(c.Header)
	if err != nil {
		return err
	}
	for _, h := range []struct {
		name  string
		value int64
	}{{"x-delay", ms}, {deliverAt, date}} {
		if h.value != 0 {
			p.Headers, p.Flags = p.Headers.Set(h.name, h.value), p.Flags|protocol.FlagHeaders
		}
	}
	_, original := protocol.SplitOriginal(c.Header)
	header := p.Append(nil)
	list := len(header)
	if len(header)+len(original) > message.MaxHeader {
		return amqp10.Errorf(amqp10.ResourceLimitExceeded, "properties and annotations take more than %d bytes", message.MaxHeader)
	}
	c.Header = protocol.WithOriginal(append(header, original...), list)
	scan, err := protocol.ScanProperties(c.Header)
	c.Headers = scan.Headers
	return err
}
