package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/storage/store/memory"
	"candlemark/supervision"
	"candlemark/supervision/resources"

	"github.com/rs/zerolog"
)

// fixed is a Meter of a machine with 1 GB of memory, 100 MB of it in use, and 2 GB of free disk.
type fixed struct{}

func (fixed) Memory() int64                  { return 100_000_000 }
func (fixed) Total() int64                   { return 1_000_000_000 }
func (fixed) Disk() (free int64, known bool) { return 2_000_000_000, true }
func (fixed) Reserved() int64                { return 0 }

func (fixed) Collections() uint64 { return 0 }
func (fixed) Collect()            {}
func (fixed) Release()            {}
func (fixed) Bound(int64)         {}

func serveFixed(t *testing.T) string {
	journal, users := memory.New(memory.Options{}), auth.NewGuest()
	node, err := supervision.Start(supervision.Config{
		Users: users, Journal: journal, Log: zerolog.Nop(), Name: "candlemark@here",
		Alarms: resources.Config{Meter: fixed{}, Watermark: config.Share(0.4), DiskFree: config.Amount{Bytes: 50_000_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(httpapi.NewHandler(node.API(), users, zerolog.Nop()))
	t.Cleanup(func() {
		s.Close()
		_ = node.Stop(t.Context())
		_ = journal.Close()
	})
	return s.URL
}

// Runs one sequence of commands; texts and exit codes are as in RabbitMQ 3.10.
func TestAlarmVerbs(t *testing.T) {
	url := serveFixed(t)
	const none, memory, disk = "Node candlemark@here reported no ", "Memory alarm on node candlemark@here\n", "Free disk space alarm on node candlemark@here\n"
	for _, step := range []struct {
		line           string
		stdout, stderr string
		code           int
	}{
		{line: "-q alarms", stdout: none + "alarms, local or clusterwide\n"},
		{line: "alarms --formatter json", stdout: `{"alarms":[],"node":"candlemark@here","result":"ok"}` + "\n"},
		{line: "-q check_alarms", stdout: none + "alarms, local or clusterwide\n"},
		{line: "-s check_alarms"},
		{line: "-q check_local_alarms", stdout: none + "local alarms\n"},
		{line: "check_alarms --formatter json", stdout: `{"result":"ok"}` + "\n"},
		{line: "set_vm_memory_high_watermark absolute 10MB", stdout: "Setting memory threshold on BROKER to 10MB bytes ...\n"},
		{line: "-q alarms", stdout: memory},
		{line: "alarms", stdout: "Asking node BROKER to report any known resource alarms ...\n" + memory},
		{line: "-q check_alarms", stderr: memory, code: 69},
		{line: "-s check_alarms", code: 69},
		{line: "-q check_local_alarms", stderr: "Error:\n" + memory, code: 69},
		{line: "set_disk_free_limit 900GB", stdout: "Setting disk free limit on BROKER to 900GB bytes ...\n"},
		{line: "-q alarms", stdout: disk + memory},
		{line: "check_alarms --formatter json", code: 69, stderr: `{"global":[],"local":["Free disk space alarm on node candlemark@here",` +
			`"Memory alarm on node candlemark@here"],"message":"Node candlemark@here reported alarms","result":"error"}` + "\n"},
		{line: "set_vm_memory_high_watermark 0.4", stdout: "Setting memory threshold on BROKER to 0.4 ...\n"},
		{line: "-q alarms", stdout: disk},
		{line: "set_disk_free_limit mem_relative 1.5", stdout: "Setting disk free limit on BROKER to 1.5 times the total RAM ...\n"},
		{line: "-q check_alarms", stdout: none + "alarms, local or clusterwide\n"},
		{line: "-q set_vm_memory_high_watermark 0"},
		{line: "-q alarms", stdout: memory},
	} {
		stdout, stderr, code := candlemark(url, strings.Fields(step.line)...)
		stdout = strings.ReplaceAll(stdout, url, "BROKER")
		if stdout != step.stdout || stderr != step.stderr || code != step.code {
			t.Errorf("%s\n got %q %q %d\nwant %q %q %d", step.line, stdout, stderr, code, step.stdout, step.stderr, step.code)
		}
	}
	stdout, _, _ := candlemark(url, "status")
	for _, want := range []string{
		"\nAlarms\n\nMemory alarm on node candlemark@here\n", "Total memory used: 0.1000 gb\n",
		"Memory high watermark setting: 0 of available memory, computed to: 0.0000 gb\n",
		"Low free disk space watermark: 1.5000 gb\nFree disk space: 2.0000 gb\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

func TestAlarmVerbs_Refused(t *testing.T) {
	const few, many = "not enough arguments.", "too many arguments."
	const limit = "Bad argument: the limit must be a number of bytes, a size such as 2GB, or mem_relative and a fraction of the memory"
	for line, want := range map[string]struct {
		text string
		code int
	}{
		"set_vm_memory_high_watermark":                {few, 64},
		"set_vm_memory_high_watermark absolute":       {few, 64},
		"set_vm_memory_high_watermark 0.4 0.5":        {many, 64},
		"set_vm_memory_high_watermark absolute 2GB x": {many, 64},
		"set_vm_memory_high_watermark abc":            {"Bad argument: the threshold must be a fraction of the memory such as 0.6, or absolute and a size such as 2GB", 65},
		"set_vm_memory_high_watermark 1.5":            {"Bad argument: The threshold should be a fraction between 0.0 and 1.0", 65},
		"set_vm_memory_high_watermark -- -0.1":        {"Bad argument: The threshold should be a fraction between 0.0 and 1.0", 65},
		"set_vm_memory_high_watermark absolute 2gb":   {"Bad argument: Invalid units.", 65},
		"set_vm_memory_high_watermark absolute 2.5GB": {"Bad argument: The threshold should be an integer.", 65},
		"set_vm_memory_high_watermark absolute much":  {"Bad argument: the size must be a number of bytes or a size such as 2GB", 65},
		"set_disk_free_limit":                         {few, 64},
		"set_disk_free_limit mem_relative":            {few, 64},
		"set_disk_free_limit 50MB 1":                  {many, 64},
		"set_disk_free_limit 1.5GB":                   {limit, 65},
		"set_disk_free_limit 10XB":                    {limit, 65},
		"set_disk_free_limit mem_relative x":          {"Bad argument: the fraction of the memory must be a number such as 1.5", 65},
		"set_disk_free_limit mem_relative 1 2":        {many, 64},
	} {
		_, stderr, code := candlemark("http://127.0.0.1:1", strings.Fields(line)...)
		if !strings.HasPrefix(stderr, "Error (argument validation): "+want.text+"\n") || code != want.code {
			t.Errorf("%s: %d %s", line, code, stderr)
		}
	}
}
