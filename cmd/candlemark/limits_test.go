package main

import (
	"strings"
	"testing"
)

// Runs one sequence of commands; titles, answers and exit codes are as in rabbitmqctl 3.10.
func TestLimitVerbs(t *testing.T) {
	url := serveKeeper(t)
	for _, step := range []struct {
		line, stdout, complaint string
		code                    int
	}{
		{`set_vhost_limits|{"max-connections": 5, "max-queues": 10}`, "Setting vhost limits to \"{\"max-connections\": 5, \"max-queues\": 10}\" for vhost \"/\" ...\n", "", 0},
		{`list_vhost_limits`, "Listing limits for vhost \"/\" ...\n{\"max-connections\":5,\"max-queues\":10}\n", "", 0},
		{`list_vhost_limits|--global`, "Listing limits for all vhosts ...\nvhost\tlimits\n/\t{\"max-connections\":5,\"max-queues\":10}\n", "", 0},
		{`-q|set_vhost_limits|-p|nope|{"max-queues":1}`, "", "Virtual host 'nope' does not exist\n", 65},
		{`-q|set_vhost_limits|{"max-foo":1}`, "", "Error:\nValidation failed\n\nUnrecognised terms [{<<\"max-foo\">>,1}] in limits\n\n", 69},
		{`-q|set_vhost_limits|{nope`, "", "Error:\nJSON decoding error. Reason: badarg\n", 69},
		{`-q|set_vhost_limits|{"max-queues":"a"}`, "", "Error:\nValidation failed\n\nmax-queues should be a number, actually was <<\"a\">>\n\n", 69},
		{`-q|list_vhost_limits|-p|nope`, "", "Virtual host 'nope' does not exist\n", 65},
		{`-q|set_vhost_limits|{"max-queues":3}`, "", "", 0},
		{`-q|list_vhost_limits`, "{\"max-queues\":3}\n", "", 0},
		{`clear_vhost_limits`, "Clearing vhost \"/\" limits ...\n", "", 0},
		{`-q|list_vhost_limits`, "\n", "", 0},
		{`-q|list_vhost_limits|--global`, "", "", 0},
		{`clear_vhost_limits|-p|nope`, "Clearing vhost \"nope\" limits ...\n", "Error:\nParameter does not exist\n", 69},
		{`set_user_limits|guest|{"max-connections": 5}`, "Setting user limits to \"{\"max-connections\": 5}\" for user \"guest\" ...\n", "", 0},
		{`-q|set_user_limits|guest|{"max-channels": 2}`, "", "", 0},
		{`list_user_limits`, "Listing limits for user \"guest\" ...\n{\"max-channels\":2,\"max-connections\":5}\n", "", 0},
		{`list_user_limits|--global`, "Listing limits for all users ...\nuser\tlimits\nguest\t{\"max-channels\":2,\"max-connections\":5}\n", "", 0},
		{`-q|list_user_limits|--user|nope`, "", "Error:\n{:no_such_user, \"nope\"}\n", 69},
		{`-q|set_user_limits|nope|{"max-channels":1}`, "", "Error:\n{:no_such_user, \"nope\"}\n", 69},
		{`-q|set_user_limits|guest|{"max-foo":1}`, "", "Error:\nUnrecognised terms [{<<\"max-foo\">>,1}] in user-limits\n", 69},
		{`-q|set_user_limits|guest|{nope`, "", "Error:\nJSON decoding error. Reason: badarg\n", 69},
		{`clear_user_limits|guest|max-channels`, "Clearing \"max-channels\" limit for user \"guest\" ...\n", "", 0},
		{`-q|list_user_limits|--user|guest`, "{\"max-connections\":5}\n", "", 0},
		{`clear_user_limits|guest|all`, "Clearing all limits for user \"guest\" ...\n", "", 0},
		{`-q|clear_user_limits|nope|all`, "", "Error:\n{:no_such_user, \"nope\"}\n", 69},
		{`-q|list_user_limits`, "{}\n", "", 0},
	} {
		stdout, stderr, code := candlemark(url, strings.Split(step.line, "|")...)
		if stdout != step.stdout || stderr != step.complaint || code != step.code {
			t.Errorf("%s: exit %d, want %d\n got %q %q\nwant %q %q", step.line, code, step.code, stdout, stderr, step.stdout, step.complaint)
		}
	}
}
