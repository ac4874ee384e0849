package connection_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"candlemark/actors/client/connection"
	"candlemark/actors/system/mail"
	"candlemark/protocol"
)

func TestCloseByClient(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		r.expectEvents("close 1", "release") // before close-ok: clients rely on it
		// The client should close the socket now; it does not.
		takes(t, 3*time.Second, 3*time.Second, r.isOver)
	})
}

func TestCloseByClientThatHangsUp(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		r.Close()
		takes(t, 0, 0, r.isOver)
	})
}

func TestCloseByClientWithoutChannels(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		r.isOver()
		r.expectEvents("release")
	})
}

func TestCloseByServer(t *testing.T) {
	for name, c := range map[string]struct {
		err           error
		code          uint16
		text          string
		class, method uint16
	}{
		"administrator": {protocol.ConnectionErrorf(protocol.ConnectionForced, "closed"), 320, "CONNECTION_FORCED - closed", 0, 0},
		"no reason":     {nil, 320, "CONNECTION_FORCED - broker forced connection closure", 0, 0},
		"our own fault": {errors.New("disk full of secrets"), 541, "INTERNAL_ERROR", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			running(t, nil, func(r *rig) {
				r.openChannel(1)
				r.system.Root.Send(r.conn, &mail.CloseConnection{Err: c.err})
				r.expectClose(c.code, c.text, c.class, c.method)
				r.expectEvents("close 1", "release")
				r.sendMethods(1, ack) // ignored
				r.sendMethods(0, &protocol.ConnectionCloseOk{})
				takes(t, 0, 0, r.isOver)
				r.expectEvents()
			})
		})
	}
}

func TestCloseByChannel(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.BasicGet{})
		r.expectClose(540, "NOT_IMPLEMENTED - no get", 60, 70)
		r.expectEvents("1: basic.get", "close 1", "release")
		takes(t, 10*time.Second, 10*time.Second, r.isOver) // no close-ok is received
	})
}

// When both sides close at once, each receives its close-ok.
func TestCloseCrossing(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.system.Root.Send(r.conn, &mail.CloseConnection{})
		r.expectClose(320, "CONNECTION_FORCED - broker forced connection closure", 0, 0)
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
	})
}

// The client closes while the broker closes its channels because of an error.
func TestCloseOvertaken(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.BasicCancel{})
		r.expectEvents("1: basic.cancel")
		r.system.Root.Send(r.conn, &mail.CloseConnection{})
		r.expectEvents("close 1")
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		r.isOver()
	})
}

func TestCloseBySocket(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.openChannel(2)
		r.Close()
		r.isOver()
		r.expectEventsInAnyOrder("close 1", "close 2", "release")
	})
}

// Clients that open channels on several threads may send channel.open behind connection.close: it is not answered and delays
// nothing.
func TestCloseBeforeOpens(t *testing.T) {
	running(t, nil, func(r *rig) {
		b := methodFrames(0, &protocol.ConnectionClose{ReplyCode: 200})
		for id := uint16(1); id <= 20; id++ {
			b = append(b, methodFrames(id, &protocol.ChannelOpen{})...)
		}
		r.send(b)
		expect[*protocol.ConnectionCloseOk](r.client, 0)
		takes(t, 3*time.Second, 3*time.Second, r.isOver)
		r.expectEvents("release")
	})
}

// A channel that does not answer delays the end, up to a timeout.
func TestCloseUnresponsiveChannel(t *testing.T) {
	running(t, func(c *connection.Config) { c.CloseTimeout = 4 * time.Second }, func(r *rig) {
		r.openChannel(1)
		r.sendMethods(1, &protocol.BasicCancel{})
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		takes(t, 4*time.Second, 4*time.Second, func() { expect[*protocol.ConnectionCloseOk](r.client, 0) })
		r.isOver()
		r.expectEvents("1: basic.cancel", "close 1", "release")
	})
}

// A panic of a channel closes only its connection; the other channels release their messages.
func TestClosePanic(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.openChannel(2)
		r.sendMethods(1, &protocol.BasicRecoverAsync{})
		r.expectClose(541, "INTERNAL_ERROR", 0, 0)
		r.sendMethods(0, &protocol.ConnectionCloseOk{})
		r.isOver()
		r.expectEvents("close 2", "release")
	})
}

// When supervision stops the connection, everything is released.
func TestCloseStopped(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.system.Root.Stop(r.conn)
		r.isOver()
		r.expectEvents("release")
	})
}

// A client that does not read delays the end only up to a timeout.
func TestCloseUnread(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.openChannel(1)
		r.client.stopReading()
		r.sendMethods(0, &protocol.ConnectionClose{ReplyCode: 200})
		select {
		case <-r.ended:
			t.Fatal("ended before close-ok was read")
		case <-time.After(9 * time.Second):
		}
		takes(t, time.Second, time.Second, func() { <-r.ended })
		synctest.Wait()
		r.expectEvents("close 1", "release")
	})
}

func TestUpdateSecret(t *testing.T) {
	running(t, nil, func(r *rig) {
		r.sendMethods(0, &protocol.ConnectionUpdateSecret{NewSecret: []byte("x"), Reason: "due"})
		expect[*protocol.ConnectionUpdateSecretOk](r.client, 0)
	})
}
