package main

import (
	"slices"
	"sync"
	"time"
)

// metronome measures how late this machine wakes a sleeper while the show runs:
// what else it has to do is not the broker's fault.
type metronome struct {
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex
	late []time.Duration
}

// beat is how long the metronome sleeps each time.
const beat = 2 * time.Millisecond

// wakings is how many sleepers a message wakes on its way from the broker's
// timer to the observer: actor, socket, reader.
const wakings = 3

func (m *metronome) run() {
	m.done.Go(func() {
		t := time.NewTimer(beat)
		defer t.Stop()
		for {
			due := time.Now().Add(beat)
			t.Reset(beat)
			select {
			case <-t.C:
				m.note(time.Since(due))
			case <-m.stop:
				return
			}
		}
	})
}

// note counts also the wakings due during the delay, so that a long stall weighs as much as it does for messages.
func (m *metronome) note(late time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = append(m.late, late)
	for late -= beat; late > 0; late -= beat {
		m.late = append(m.late, late)
	}
}

// end stops it.
func (m *metronome) end() {
	close(m.stop)
	m.done.Wait()
}

// soFar returns the 99th percentile of the lateness and the worst.
func (m *metronome) soFar() (p99, worst time.Duration) {
	m.mu.Lock()
	late := slices.Clone(m.late)
	m.mu.Unlock()
	if len(late) == 0 {
		return 0, 0
	}
	slices.Sort(late)
	return late[len(late)*99/100], late[len(late)-1]
}

// mostly returns the verdict on the 99th percentile of many waits: busy if it exceeds the limit by no more than this
// machine adds by itself.
func (m *metronome) mostly(d, limit time.Duration) verdict {
	p99, _ := m.soFar()
	return within(d, limit, p99)
}

// once returns the same for a single wait.
func (m *metronome) once(d, limit time.Duration) verdict {
	_, worst := m.soFar()
	return within(d, limit, worst)
}

// within returns the verdict on a wait, on a machine whose sleepers wake late.
func within(d, limit, late time.Duration) verdict {
	switch {
	case d <= limit:
		return pass
	case d <= limit+wakings*late:
		return busy
	}
	return fail
}
