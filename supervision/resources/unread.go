package resources

import (
	"maps"
	"slices"
	"time"
)

// logEvery is the interval of log lines about clients that were cut off.
const logEvery = time.Minute

// maxNamed is the maximum number of users in such a line.
const maxNamed = 10

// cutOffs counts clients that were cut off and not logged yet.
type cutOffs struct {
	users  map[string]int // number of connections and requests by user
	logged time.Duration  // time of the last line, 0 for none
}

// cutOff cuts off clients that do not read while others need the memory, and logs that once a minute.
func (a *Monitor) cutOff(at time.Duration) {
	c := &a.cut
	for _, user := range a.unread.Look(a.broker.Clock.Ran()) {
		if c.users == nil {
			c.users = map[string]int{}
		}
		c.users[user]++
	}
	if len(c.users) == 0 || c.logged != 0 && at-c.logged < logEvery {
		return
	}
	count, named := 0, slices.Sorted(maps.Keys(c.users))
	for _, n := range c.users {
		count += n
	}
	c.users, c.logged = nil, max(at, 1)
	a.broker.Log.Warn().Int("connections", count).Strs("users", named[:min(len(named), maxNamed)]).Int64("unread_bytes", a.unread.Used()).
		Msg("connections were closed because their clients do not read, and others need the memory")
}
