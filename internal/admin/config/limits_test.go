package config

import (
	"flag"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	load := func(args ...string) (Config, error) {
		flags := flag.NewFlagSet("serve", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		s, err := Load(flags, args, environ(map[string]string{"CANDLEMARK_CONNECTION_MAX": "7"}))
		if err != nil {
			return Config{}, err
		}
		return s.Config, nil
	}
	c, err := load()
	if want := (Limits{Connections: 7, Channels: 2047, Frame: 131072, Heartbeat: 60, Message: 16 << 20, Sessions: 64, Links: 256}); err != nil || !reflect.DeepEqual(c.Limits, want) {
		t.Fatalf("%+v %v", c.Limits, err)
	}
	c, err = load("--connection-max=0", "--channel-max=65535", "--frame-max=4096", "--heartbeat=0", "--max-message-size=536870912",
		"--consumer-max-per-channel=1", "--channel-max-per-node=2", "--session-max-per-connection=3", "--link-max-per-session=4294967295", "--vhost-max=5",
		"--cluster-queue-limit=6", "--cluster-exchange-limit=7", "--parameter-limits=shovel=8,policy=0")
	if want := (Limits{
		Channels: 65535, Frame: 4096, Message: 512 << 20, Consumers: 1, NodeChannels: 2, Sessions: 3, Links: 1<<32 - 1, VHosts: 5, Queues: 6, Exchanges: 7,
		Parameters: []string{"shovel=8", "policy=0"},
	}); err != nil || !reflect.DeepEqual(c.Limits, want) {
		t.Fatalf("%+v %v", c.Limits, err)
	}
	for arg, complaint := range map[string]string{
		"--connection-max=-1":            "connection-max: -1 is negative",
		"--consumer-max-per-channel=-1":  "consumer-max-per-channel: -1 is negative",
		"--channel-max-per-node=-1":      "channel-max-per-node: -1 is negative",
		"--vhost-max=-1":                 "vhost-max: -1 is negative",
		"--cluster-queue-limit=-1":       "cluster-queue-limit: -1 is negative",
		"--cluster-exchange-limit=-1":    "cluster-exchange-limit: -1 is negative",
		"--session-max-per-connection=0": "session-max-per-connection: 0 is not between 1 and 65535",
		"--link-max-per-session=0":       "link-max-per-session: 0 is not between 1 and 4294967295",
		"--parameter-limits=shovel":      `parameter-limits: "shovel" is not of the form COMPONENT=NUMBER`,
		"--parameter-limits=shovel=-1":   `parameter-limits: "shovel=-1" is not of the form COMPONENT=NUMBER`,
		"--channel-max=0":                "channel-max: 0 is not between 1 and 65535",
		"--channel-max=65536":            "channel-max: 65536 is not between 1 and 65535",
		"--frame-max=4095":               "frame-max: 4095 is not between 4096 and 16777216",
		"--frame-max=16777217":           "frame-max: 16777217 is not between 4096 and 16777216",
		"--heartbeat=65536":              "heartbeat: 65536 is not between 0 and 65535",
		"--max-message-size=0":           "max-message-size: 0 is not between 1 and 536870912",
		"--max-message-size=536870913":   "max-message-size: 536870913 is not between 1 and 536870912",
		"--segment-size=4194303":         "segment-size: 4194303 is not between 4194304 and 1073741824",
		"--segment-size=1073741825":      "segment-size: 1073741825 is not between 4194304 and 1073741824",
		"--handshake-timeout=0s":         "handshake-timeout: 0s is not positive",
		"--channel-max=many":             "invalid value",
		"--max-message-size=-5":          "invalid value",
	} {
		if _, err := load(arg); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v, want %s", arg, err, complaint)
		}
	}
}
