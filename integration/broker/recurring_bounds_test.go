package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/auth"
	"candlemark/internal/storage/parameters"
)

// TestScheduleRefusedByItsDate_REC4: a schedule whose intervals are too short for its jitter only from its creation on, because the clocks are
// changed then, is refused: it could not be read.
func TestScheduleRefusedByItsDate_REC4(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		err := trySchedule(b, "guest", "weekly", `{"cron":"0 0 * * 0","zone":"Europe/Berlin","jitter":"84h","queue":"q"}`)
		if !errors.As(err, new(parameters.Refusal)) || !strings.Contains(err.Error(), "half of the interval") {
			t.Error(err)
		}
		putSchedule(b, "weekly", `{"cron":"0 0 * * 0","zone":"Europe/Berlin","jitter":"83h","queue":"q"}`)
		if s := scheduleNamed(b, "weekly"); s.State != "running" {
			t.Error(s.State)
		}
	})
}

// TestSchedulePrice_PRO21_REC13: schedules take room for objects of the user as whom they publish, by their size; who deletes some has room again, and
// a restart counts those that there are.
func TestSchedulePrice_PRO21_REC13(t *testing.T) {
	objectsRun(t, func(b *testkit.Bubble) {
		if _, err := b.Users.PutAccount(auth.Account{Name: "app"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Users.PutGrant(auth.Grant{User: "app", VHost: "/", Configure: ".*", Write: ".*"}); err != nil {
			t.Fatal(err)
		}
		value := `{"every":"1h","queue":"q","body":"` + strings.Repeat("x", 40_000) + `"}`
		full, n := "the objects of user 'app'", 0
		var err error
		for ; err == nil && n < 500; n++ {
			err = trySchedule(b, "app", fmt.Sprint(n), value)
		}
		if err == nil || !strings.Contains(err.Error(), full) || n < 100 || n > 230 {
			t.Fatalf("%d schedules: %v", n, err)
		}
		putSchedule(b, "of guest", value)
		if err := trySchedule(b, "app", "0", value); err != nil {
			t.Errorf("one that exists: %v", err)
		}
		b.Restart(time.Second)
		if err := trySchedule(b, "app", "more", value); err == nil || !strings.Contains(err.Error(), full) {
			t.Errorf("after a restart: %v", err)
		}
		for n := range n - 1 {
			if found, err := b.Node.API().DeleteParameter(context.Background(), parameters.Parameter{Component: parameters.Schedule, VHost: "/", Name: fmt.Sprint(n)}); !found || err != nil {
				t.Fatal(n, found, err)
			}
		}
		for n := range n - 10 { // guest has taken some
			if err := trySchedule(b, "app", fmt.Sprint("again", n), value); err != nil {
				t.Fatal(n, err)
			}
		}
	})
}

// TestSchedulePausedWhileChanged_REC11: a schedule that is set while another client pauses it loses neither.
func TestSchedulePausedWhileChanged_REC11(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		putSchedule(b, "tick", `{"every":1000,"queue":"q","body":"old"}`)
		guest, _ := b.Users.Account("guest")
		set := make(chan error, 1)
		_, err := b.Node.API().ChangeSchedule(context.Background(), auth.User{Name: "guest", Tags: guest.Tags}, "/", "tick", func(f map[string]json.RawMessage) {
			go func() { set <- trySchedule(b, "guest", "tick", `{"every":1000,"queue":"q","body":"new"}`) }()
			select {
			case err := <-set:
				t.Errorf("set within the change: %v", err)
				set <- err
			case <-time.After(time.Second):
			}
			f["paused"] = json.RawMessage("true")
		})
		if err := errors.Join(err, <-set); err != nil {
			t.Fatal(err)
		}
		if x := scheduleNamed(b, "tick"); string(x.Spec.Body) != "new" {
			t.Errorf("the body is %s", x.Spec.Body)
		}
	})
}

// TestScheduleAsParameter_REC12: the endpoint of parameters, which the tag policymaker opens, gives no more rights to schedules than theirs.
func TestScheduleAsParameter_REC12(t *testing.T) {
	testkit.RunStored(t, nil, func(b *testkit.Bubble) {
		if _, err := b.Users.PutAccount(auth.Account{Name: "maker", Tags: []string{"policymaker"}, Hash: auth.HashPassword("pw")}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Users.PutGrant(auth.Grant{User: "maker", VHost: "/", Configure: "^m-", Write: "^m-", Read: ".*"}); err != nil {
			t.Fatal(err)
		}
		value := `{"every":"1h","queue":"q","body":"secret","headers":{"h":"secret"}}`
		putSchedule(b, "other", value)
		putSchedule(b, "m-one", value)
		w := bubbleWeb(b)
		for _, c := range []struct {
			method, path, body string
			code               int
			secret             bool
		}{
			{"GET", "schedule/%2F/other", "", 200, false},
			{"GET", "schedule/%2F/m-one", "", 200, true},
			{"PUT", "schedule/%2F/other", `{"value":{"every":"1h","exchange":"m-x"}}`, 400, false},
			{"PUT", "schedule/%2F/m-two", `{"value":{"every":"1h","exchange":"x"}}`, 401, false},
			{"DELETE", "schedule/%2F/other", "", 401, false},
			{"DELETE", "schedule/%2F/m-one", "", 204, false},
			{"GET", "schedule", "", 200, false},
		} {
			a := w.ask("maker:pw", c.method, "/api/parameters/"+c.path, c.body)
			if a.Code != c.code || strings.Contains(a.Body.String(), "secret") != c.secret {
				t.Errorf("%s %s: %d %s", c.method, c.path, a.Code, a.Body)
			}
		}
		if x := scheduleNamed(b, "other"); string(x.Spec.Body) != "secret" {
			t.Errorf("%+v", x)
		}
	})
}
