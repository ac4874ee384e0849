package management

import (
	"context"
	"encoding/json"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
)

// Schedules is the part of the broker that runs recurring schedules. They are parameters of a component, which Shovels keeps.
type Schedules interface {
	// ListSchedules describes the schedules of a virtual host, of all for "", sorted. With a name it is that one alone, with its history.
	ListSchedules(ctx context.Context, vhost, name string) ([]Schedule, error)
	// SetSchedule creates or replaces a schedule of a user. Errors: those of MaySetSchedule and PutParameter.
	SetSchedule(ctx context.Context, by auth.User, vhost, name string, value json.RawMessage) (created bool, err error)
	// ChangeSchedule changes keys of a schedule, for a user with the permission to configure it. Found reports whether there is one.
	ChangeSchedule(ctx context.Context, by auth.User, vhost, name string, change func(fields map[string]json.RawMessage)) (found bool, err error)
	// DeleteSchedule deletes a schedule, for a user with the permission to configure it.
	DeleteSchedule(ctx context.Context, by auth.User, vhost, name string) (found bool, err error)
	// TriggerSchedule publishes a run at once, with a nominal time in ms, 0 for now, and returns when its queues have it.
	TriggerSchedule(ctx context.Context, by auth.User, vhost, name string, at int64) (ran ScheduleRun, found bool, err error)
	// Backfill publishes the runs of a past span (REC-14), whose end is now for 0. It returns how many there are; a preview does nothing else.
	Backfill(ctx context.Context, by auth.User, vhost, name string, b parameters.Backfill, preview bool) (runs int, found bool, err error)
	// CancelBackfill ends the backfill of a schedule.
	CancelBackfill(ctx context.Context, by auth.User, vhost, name string) (found bool, err error)
	// ScheduleTarget reports whether the queue or exchange of a schedule exists.
	ScheduleTarget(s *parameters.ScheduleSpec) bool
	// SchedulesOf returns the number of schedules that publish as a user.
	SchedulesOf(user string) int
	// ScheduleRuns returns the number of runs of all schedules by their result.
	ScheduleRuns() map[string]int64
}

// Schedule describes a recurring schedule. Times are dates in ms since 1970, 0 for none.
type Schedule struct {
	VHost, Name string
	Value       json.RawMessage
	Spec        *parameters.ScheduleSpec // nil if the value cannot be read
	// State is running, paused, ended, no_user, no_target or stopped.
	State string
	// Next is the nominal time of the next run, Due with jitter; Why is gap or overlap, or "".
	Next, Due int64
	Why       string
	// Runs counts runs by the timer since the schedule was created; the others count since the broker started.
	Runs, Stored, Skipped, Refused, Unroutable, Missed int64
	Last                                               *ScheduleRun
	History                                            []ScheduleRun
	Filled                                             int64 // runs of the backfill so far
}

// ScheduleRun describes a run of a schedule. Times are dates in ms since 1970.
type ScheduleRun struct {
	Time, Fired int64
	Late        time.Duration
	By          string // timer, catch-up, trigger or backfill
	Result      string // stored, skipped, refused or unroutable
	Reason      string
}
