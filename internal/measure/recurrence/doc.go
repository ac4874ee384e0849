// Package recurrence computes the times of recurring schedules: cron expressions in a time zone, intervals, and lists of dates
// (REC-2 to REC-4). It is pure: the same schedule and time give the same next time.
//
// [ParseCron] reads an expression; [Times] joins it with a zone, limits and jitter. Zones are Go's; the package does
// not embed them.
package recurrence
