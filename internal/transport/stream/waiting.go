package stream

// credit waits until less of this connection's input is in use, and none of it waits for memory; false means that the
// connection is closing.
func (r *Reader) credit() bool {
	if r.hasCredit() {
		return true
	}
	r.Crowded.Store(true)
	defer r.Crowded.Store(false)
	return r.pause(func() bool { return r.Input.Gate.Wait(r.Stopping) && r.Arrivals.Wait(r.Stopping) })
}

// hasCredit reports whether credit would return without waiting.
func (r *Reader) hasCredit() bool { return r.Input.Gate.Open() && !r.Arrivals.Stuck() }

// pause calls wait, and checks during the call whether the peer still exists.
func (r *Reader) pause(wait func() bool) bool {
	r.Waiting.Store(true)
	defer r.Waiting.Store(false)
	if r.looking != nil {
		r.looking.Reset(PeerLook)
		defer r.looking.Stop()
	}
	return wait()
}

// calm waits, if the last input contained messages, until the broker has room for more; false means that the connection
// is closing. As in RabbitMQ only publishing connections wait. A connection in the middle of a content or transaction
// may end it first.
func (r *Reader) calm() bool {
	if r.isCalm() {
		return true
	}
	return r.pause(func() bool {
		if !r.Valve.Wait(r.Stopping) {
			return false
		}
		for r.Valve.Shut() {
			r.Protocol.HeldUp()
			if r.readsOn() {
				return true
			}
			select {
			case <-r.Again:
			case <-r.Arrivals.Changed():
			case <-r.Stopping:
				return false
			}
		}
		r.grace, r.until = 0, 0
		return true
	})
}

// isCalm reports whether calm would return without waiting.
func (r *Reader) isCalm() bool {
	if !r.Valve.Shut() {
		r.grace, r.until = 0, 0
	}
	return !r.Published || !r.Valve.Full() && !r.Valve.Shut()
}

// readsOn reports whether the connection is read during an alarm: for its Grace, or because its incomplete contents or
// transactions hold memory, but only as far as needed to complete them. Anything new counts against that, so that no
// connection bypasses the alarm.
func (r *Reader) readsOn() bool {
	if r.grace == 0 {
		r.grace = r.Input.Octets.Load() + r.Grace
	}
	if r.Input.Octets.Load() < r.grace {
		return true
	}
	held := r.Arrivals.Held()
	if held == 0 {
		return false
	}
	octets := r.Input.Octets.Load()
	if r.until == 0 {
		r.until = octets + uint64(held+held/8) + MaxRead
	}
	return octets < r.until
}
