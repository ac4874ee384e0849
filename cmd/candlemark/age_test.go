package main

import (
	"regexp"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestCheckOldestMessage_AGE5: the check names the queues whose messages are older, and exits like the other checks.
func TestCheckOldestMessage_AGE5(t *testing.T) {
	url, _, ch := serveNode(t)
	if _, err := ch.QueueDeclare("orders", false, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
	each(t, url, [][2]string{{"-q|check_oldest_message|--over|0s", "No message is older\n"}})
	post(t, ch, "", "orders", amqp.Publishing{})
	each(t, url, [][2]string{
		{"-q|check_oldest_message", "No message is older\n"},
		{"check_oldest_message|--over|1h|--unacked", "Checking if messages are older than 1h ...\nNo message is older\n"},
		{"-q|check_oldest_message|--over|0s|--name|^other", "No message is older\n"},
	})
	want := regexp.MustCompile(`^queues with messages older than 0s\nqueue 'orders' in vhost '/': [\d.]+m?s, 1 ready\n$`)
	for tries := 0; ; tries++ { // until the message is older than 0 ms
		stdout, stderr, code := candlemark(url, "-q", "check_oldest_message", "--over", "0s", "-p", "/")
		if code == 69 && want.MatchString(stderr) && stdout == "" {
			break
		}
		if code != 0 || tries > 1000 {
			t.Fatalf("exit %d, %q, %q", code, stdout, stderr)
		}
	}
	for args, code := range map[[2]string]int{{"--over", "soon"}: 69, {"-p", "nope"}: 65, {"extra", "words"}: 64} {
		if _, stderr, got := candlemark(url, append([]string{"check_oldest_message"}, args[:]...)...); got != code {
			t.Errorf("%q: exit %d, want %d: %s", args, got, code, stderr)
		}
	}
	if stdout, stderr, code := candlemark(url, "-s", "list_queues", "name", "oldest_ready_age", "wait_p99"); code != 0 || !regexp.MustCompile(`^orders\t[\d.]+\t\n$`).MatchString(stdout) {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}
