package commandline

import (
	"context"
	"fmt"

	"candlemark/internal/httpapi/client"
)

// traceVerb switches the firehose.
func traceVerb(on bool) verb {
	begins, done := "Starting", "enabled"
	if !on {
		begins, done = "Stopping", "disabled"
	}
	return verb{
		banner: func(c *call) string { return fmt.Sprintf("%s tracing for vhost \"%s\" ...", begins, c.vhost) },
		run: func(ctx context.Context, broker *client.Client, c *call) error {
			if err := broker.SetTracing(ctx, c.vhost, on); err != nil {
				return err
			}
			c.say("Trace %s for vhost %s", done, c.vhost)
			return nil
		},
	}
}
