package main

import (
	"context"
	"testing"

	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/httpapi/client"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The verbs print rabbitmqctl's texts and switch the firehose on and off.
func TestTraceVerbs(t *testing.T) {
	url, _, ch := serveNode(t)
	broker, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	if _, err := ch.QueueDeclare("copies", false, false, true, false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.QueueBind("copies", "publish.#", "amq.rabbitmq.trace", false, nil); err != nil {
		t.Fatal(err)
	}
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	before, err := broker.Get(context.Background(), "vhosts", "/")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		verb, stdout string
		on           bool
	}{
		{"trace_on", "Starting tracing for vhost \"/\" ...\nTrace enabled for vhost /\n", true},
		{"trace_off", "Stopping tracing for vhost \"/\" ...\nTrace disabled for vhost /\n", false},
	} {
		if stdout, stderr, code := candlemark(url, step.verb); stdout != step.stdout || stderr != "" || code != 0 {
			t.Errorf("%s: exit %d, %q %q", step.verb, code, stdout, stderr)
		}
		after, err := broker.Get(context.Background(), "vhosts", "/")
		if err != nil || after["tracing"] != step.on || after["description"] != before["description"] || len(after["tags"].([]any)) != len(before["tags"].([]any)) {
			t.Errorf("%v %v, before %v", after, err, before)
		}
		d, err := ch.PublishWithDeferredConfirm("", "nowhere", false, false, amqp.Publishing{Body: []byte(step.verb)})
		if err != nil {
			t.Fatal(err)
		}
		d.Wait()
	}
	if d, ok, err := ch.Get("copies", true); err != nil || !ok || string(d.Body) != "trace_on" {
		t.Errorf("%+v %v %v", d, ok, err)
	}
	if _, ok, err := ch.Get("copies", true); err != nil || ok {
		t.Error("a second copy", ok, err)
	}
	if stdout, stderr, code := candlemark(url, "-q", "trace_on", "-p", "none"); stdout != "" || stderr != "Virtual host 'none' does not exist\n" || code != commandline.ExitData {
		t.Errorf("exit %d, %q %q", code, stdout, stderr)
	}
}
