package broker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/policies"
)

// TestPolicyPrice_PRO21: policies take room for objects of their virtual host, by the length of their patterns; a deleted one makes room, and a
// restart counts those that there are.
func TestPolicyPrice_PRO21(t *testing.T) {
	objectsRun(t, func(b *testkit.Bubble) {
		set := func(n int, length int) error {
			p, err := policies.Parse("/", fmt.Sprint("p", n), false, []byte(fmt.Sprintf(`{"pattern":"^%s","definition":{"message-ttl":%d}}`, strings.Repeat("a", length), 1000+n)))
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Node.API().SetPolicy(context.Background(), p)
			return err
		}
		n, full := 0, "the objects of virtual host '/' may take at most"
		var err error
		for ; err == nil && n < 1000; n++ {
			err = set(n, 1000)
		}
		if err == nil || !strings.Contains(err.Error(), full) || n < 150 || n > 350 {
			t.Fatalf("%d policies: %v", n, err)
		}
		if err := set(0, 500); err != nil {
			t.Errorf("a shorter pattern: %v", err)
		}
		b.Restart(time.Second)
		if err := set(1000, 1000); err == nil || !strings.Contains(err.Error(), full) {
			t.Errorf("after a restart: %v", err)
		}
		for n := range 10 {
			if _, err := b.Node.API().ClearPolicy(context.Background(), "/", fmt.Sprint("p", n), false); err != nil {
				t.Fatal(err)
			}
		}
		if err := set(1000, 1000); err != nil {
			t.Errorf("after a deletion: %v", err)
		}
	})
}
