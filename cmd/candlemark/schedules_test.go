package main

import (
	"strings"
	"testing"
)

// TestScheduleVerbs_REC11_REC14: the commands about schedules, their answers and exit codes.
func TestScheduleVerbs_REC11_REC14(t *testing.T) {
	b, conn := withTestClock(t, "2027-01-01T00:00:30Z")
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ch.QueueDeclare("q", true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	url := "http://guest:guest@" + b.HTTP.String()
	each(t, url, [][2]string{
		{"set_schedule|s|--cron|* * * * *|--queue|q|--body|x", "Setting schedule \"s\" in vhost \"/\" ...\n"},
		{"-q|set_schedule|t|--every|1h|--queue|none", ""},
		{"set_schedule|t|--every|1h|--queue|none", "Setting schedule \"t\" in vhost \"/\" ...\nWarning: there is no queue 'none' yet\n"},
		{"-q|next_runs|s|--count|2|--no-table-headers", "s\t2027-01-01T00:01:00Z\t2027-01-01T00:01:00Z\t\ns\t2027-01-01T00:02:00Z\t2027-01-01T00:02:00Z\t\n"},
		{"-s|pause_schedule|s|--note|later", ""},
		{"-s|list_schedules|--no-table-headers|name|state|note", "s\tpaused\tlater\nt\trunning\t\n"},
		{"-s|resume_schedule|s", ""},
		{"-s|trigger_schedule|s", ""},
		{"-s|backfill_schedule|s|--from|2026-12-31T23:59:00Z|--dry-run", "2026-12-31T23:59:00Z\n2027-01-01T00:00:00Z\nRuns in all: 2, in about 0.02 s\n"},
		{"backfill_schedule|s|--from|2026-12-31T23:59:00Z|--rate|1", "Backfilling schedule \"s\" ...\nPublishing 2 runs in about 2 s\n"},
		{"-s|cancel_backfill|s", ""},
		{"-s|delete_schedule|t", ""},
	})
	for args, want := range map[string]string{
		"trigger_schedule none": `There is no schedule "none" in vhost "/"`, "cancel_backfill s": "the schedule has no backfill", "backfill_schedule s": "a backfill needs from, a date",
		"backfill_schedule none --from 2026-12-31T23:59:00Z": `There is no schedule "none" in vhost "/"`,
		"set_schedule s --cron 1 --queue q":                  "a cron expression has 5 fields, or 6 with the seconds first; this one has 1",
	} {
		if stdout, stderr, code := candlemark(url, strings.Fields(args)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %q, %q", args, code, stdout, stderr)
		}
	}
}
