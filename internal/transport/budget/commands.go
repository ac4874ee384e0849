package budget

import "slices"

// FreeCommand is the size in bytes up to which the arguments of a command need no room.
const FreeCommand = 4 << 10

// commandShare: the arguments of commands under way may take this fraction of what objects may take.
const commandShare = 8

// commands are the arguments of commands under way. The lock of Objects guards them.
type commands struct {
	held    int64
	waiting []*Command // those that wait for room, oldest first
}

// Command is the room for the decoded arguments of a command, from before they are decoded until the command is answered:
// they take up to 24 times the bytes of their frame, as an array of voids does. Those that get no room wait with their frame;
// while nothing is held, a command of any size gets room. The zero value has no room. It belongs to one goroutine at a time, and must not
// be moved while it waits.
type Command struct {
	of    *Objects // nil without room
	bytes int64
	// Under the lock of Objects:
	granted bool
	wake    func()
}

// Ask asks for room for arguments that take that many bytes; false means that the caller has to wait. Then wake is called once, from any
// goroutine, when there is room, unless Return is called before. The caller asks again then.
func (c *Command) Ask(h *Holder, bytes int64, wake func()) (now bool) {
	if c.of == nil && (h == nil || bytes <= FreeCommand) {
		return true
	}
	known := c.of != nil
	if !known {
		c.of, c.bytes = h.of, bytes
	}
	o := c.of
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case known:
	case len(o.commands.waiting) == 0 && o.fits(c):
		o.grant(c)
	default:
		c.wake = wake
		o.commands.waiting = append(o.commands.waiting, c)
	}
	return c.granted
}

// Return releases the room, or stops waiting for it. Later calls do nothing.
func (c *Command) Return() {
	if c.of == nil {
		return
	}
	o := c.of
	o.mu.Lock()
	if c.granted {
		o.commands.held -= c.bytes
	} else {
		o.commands.waiting = slices.DeleteFunc(o.commands.waiting, func(w *Command) bool { return w == c })
	}
	*c = Command{}
	var wakes []func()
	for len(o.commands.waiting) > 0 && o.fits(o.commands.waiting[0]) {
		first := o.commands.waiting[0]
		o.commands.waiting = slices.Delete(o.commands.waiting, 0, 1)
		o.grant(first)
		wakes = append(wakes, first.wake)
	}
	o.mu.Unlock()
	for _, wake := range wakes {
		wake()
	}
}

// Commands returns the bytes of the arguments of commands under way.
func (o *Objects) Commands() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.commands.held
}

func (o *Objects) fits(c *Command) bool {
	return o.commands.held == 0 || o.all == 0 || o.commands.held+c.bytes <= o.all/commandShare
}

func (o *Objects) grant(c *Command) {
	c.granted = true
	o.commands.held += c.bytes
}
