package commandline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

// nodesOf are the nodes of a cluster, by their state.
type nodesOf struct {
	leader         string
	all, online    []string
	voters, voting int // voters, and those that are online
}

// askNodes asks for the nodes of the cluster; a broker alone is one.
func askNodes(ctx context.Context, broker *client.Client) (n nodesOf, err error) {
	c, err := broker.Get(ctx, "x", "cluster")
	if err != nil {
		return n, err
	}
	list, _ := c["members"].([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, online, votes := verb.Cell(m["name"]), m["online"] == true, m["role"] != "learner"
		n.all = append(n.all, name)
		if online {
			n.online = append(n.online, name)
		}
		if votes {
			n.voters++
			if online {
				n.voting++
			}
		}
	}
	n.leader = verb.Cell(c["leader"])
	if len(list) == 0 {
		n = nodesOf{verb.Cell(c["node"]), []string{verb.Cell(c["node"])}, []string{verb.Cell(c["node"])}, 1, 1}
	}
	return n, nil
}

// awaitState asks until the nodes are as they should be, or the time of the command is over. The broker must answer at first, and may go
// away later.
func awaitState(ctx context.Context, broker *client.Client, is func(nodesOf) bool) (n nodesOf, err error) {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for first := true; ; first = false {
		n, err = askNodes(ctx, broker)
		var refused *client.Error
		switch {
		case err == nil && is(n):
			return n, nil
		case errors.As(err, &refused) && refused.Status != 503, err != nil && first && !lost(err):
			return n, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

func awaitNodes(ctx context.Context, broker *client.Client, c *verb.Call) error {
	if err := awaitStartup(ctx, broker, c); err != nil {
		return err
	}
	want, _ := strconv.Atoi(c.Arguments[0]) // wholeNumber checked it
	n, err := askNodes(ctx, broker)
	if err == nil && len(n.all) < want {
		return verb.Fail(verb.ExitSoftware, fmt.Sprintf("Error: not enough nodes joined %s's cluster: there are %d", c.Broker, len(n.all)))
	}
	if err == nil {
		_, err = awaitState(ctx, broker, func(n nodesOf) bool { return len(n.online) >= want })
	}
	return err
}

// awaitSpare waits until so many nodes more than a majority are online.
func awaitSpare(more int) verb.Action {
	return func(ctx context.Context, broker *client.Client, c *verb.Call) error {
		n, err := awaitState(ctx, broker, func(n nodesOf) bool { return n.voters == 1 || n.voting >= n.voters/2+1+more })
		if err == nil && n.voters == 1 {
			c.Say("Node %s seems to be the only one in a single node cluster, the command does not apply", n.leader)
		}
		return err
	}
}

func quorumCritical(ctx context.Context, broker *client.Client, c *verb.Call) error {
	n, err := askNodes(ctx, broker)
	switch {
	case err != nil:
		return err
	case n.voters == 1:
		c.Say("Node %s seems to be the only one in a single node cluster, the check does not apply", n.leader)
		return nil
	}
	if err := healthy("node-is-quorum-critical")(ctx, broker, c); err != nil {
		return err
	}
	c.Say("There are more nodes online than a majority needs")
	return nil
}

func transferLeadership(ctx context.Context, broker *client.Client, c *verb.Call) error {
	before, err := askNodes(ctx, broker)
	if err != nil {
		return err
	}
	form := client.Object{}
	if len(c.Arguments) > 0 {
		form["node"] = c.Arguments[0]
	}
	ask := func() error {
		_, err := broker.Send(ctx, "PUT", form, nil, "x", "cluster", "leader")
		return err
	}
	if err := ask(); err != nil && !lost(err) {
		return err
	}
	asked := time.Now()
	n, err := awaitState(ctx, broker, func(n nodesOf) bool {
		if len(c.Arguments) > 0 && n.leader == c.Arguments[0] || len(c.Arguments) == 0 && n.leader != "" && n.leader != before.leader {
			return true
		}
		if time.Since(asked) > transferAgain {
			asked = time.Now()
			_ = ask() // the leader may just be changing
		}
		return false
	})
	if err == nil {
		c.Say("Node %s leads the cluster", n.leader)
	}
	return err
}

// lost reports whether a request has no answer because the connection has ended. A node that loses the leadership ends all of its connections.
func lost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// transferAgain is after how long another transfer is asked for: nodes that have just started do not vote, so that a third one may have been elected.
const transferAgain = 3 * time.Second

func drain(ctx context.Context, broker *client.Client, c *verb.Call) error {
	before, err := askNodes(ctx, broker)
	if err != nil {
		return err
	}
	node := before.leader
	if len(c.Arguments) > 0 {
		node = c.Arguments[0]
	}
	ask := func() error {
		_, err := broker.Send(ctx, "PUT", nil, nil, "x", "cluster", "drained", node)
		return err
	}
	unanswered := ask()
	if unanswered != nil && !lost(unanswered) {
		return unanswered
	}
	asked := time.Now()
	n, err := awaitState(ctx, broker, func(n nodesOf) bool {
		if lost(unanswered) {
			unanswered = ask()
		}
		if unanswered != nil {
			return !lost(unanswered)
		}
		return n.leader != "" && (n.leader != node || time.Since(asked) > transferAgain)
	})
	if err == nil {
		err = unanswered
	}
	switch {
	case err != nil:
	case n.leader == node:
		c.Say("Node %s is drained, and leads until another node can", node)
	default:
		c.Say("Node %s is drained", node)
	}
	return err
}
