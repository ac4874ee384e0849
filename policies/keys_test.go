package policies

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"candlemark/protocol"
)

// samples returns values that a key can have, as a policy's definition has them.
func samples(k *key) []any {
	switch {
	case k.value == onOrOff:
		return []any{true, false}
	case k.name == keyRetryType:
		return []any{"failed"}
	case k.name == keyRenewedBy:
		return []any{"peek"}
	case k.name == keyPausedUntil:
		return []any{"2027-01-01T00:00:00Z"}
	case k.name == keyRetryLadder:
		return []any{"1s,10s"}
	case k.value == aName:
		return []any{"orders"}
	case strings.Contains(k.value, ", "):
		var words []any
		for word := range strings.SplitSeq(k.value, ", ") {
			words = append(words, word)
		}
		return words
	default:
		return []any{json.Number("7")}
	}
}

// TestKeysHaveTheirEffect: each key that has an effect on queues changes their settings, as an argument and in a policy; a key
// that has none changes nothing.
func TestKeysHaveTheirEffect(t *testing.T) {
	// needed are the arguments without which some keys have no effect.
	needed := map[string]protocol.Table{
		keyDeadLetterStrategy: {{Key: argDLX, Value: "x"}, {Key: "x-" + keyOverflow, Value: overflowReject}},
		keyRetryType:          {{Key: "x-" + keyRetryMin, Value: int64(5)}},
		keyRetryMin:           {{Key: "x-" + keyRetryType, Value: "all"}},
		keyRetryMax:           {{Key: "x-" + keyRetryType, Value: "all"}, {Key: "x-" + keyRetryMin, Value: int64(1)}},
		keyRetryFactor:        {{Key: "x-" + keyRetryMin, Value: int64(5)}},
		keyRetryJitter:        {{Key: "x-" + keyRetryMin, Value: int64(5)}},
	}
	others := []string{keyAlternateExchange, "queue-type", keySessions} // the settings of exchanges; a queue's nature
	for i := range allKeys {
		k := &allKeys[i]
		if slices.Contains(others, k.name) {
			continue
		}
		if (k.idle == "") != (k.wins != nobody) || (k.idle == "") != (k.means != "") {
			t.Errorf("%s: meaning %q, effect %v, without effect because %q", k.name, k.means, k.wins, k.idle)
		}
		kind := "classic"
		if k.argument.on == onQuorum || k.argument.on == 0 {
			kind = "quorum"
		}
		args := append(protocol.Table{{Key: argQueueType, Value: kind}}, needed[k.name]...)
		before := SettingsFor(args, Effective{})
		byArgument, byPolicy := false, false
		for _, v := range samples(k) {
			effective := Effective{Definition: Definition{{k.name, v}}}
			byPolicy = byPolicy || !reflect.DeepEqual(before, SettingsFor(args, effective))
			if n, isNumber := v.(json.Number); isNumber {
				v, _ = n.Int64()
			}
			byArgument = byArgument || !reflect.DeepEqual(before, SettingsFor(append(slices.Clone(args), protocol.Field{Key: "x-" + k.name, Value: v}), Effective{}))
		}
		if want := k.wins != nobody && k.argument.check != nil; byArgument != want {
			t.Errorf("the argument x-%s changes settings: %v, want %v", k.name, byArgument, want)
		}
		if want := k.wins != nobody && k.policy.valid != nil; byPolicy != want {
			t.Errorf("the policy key %s changes settings: %v, want %v", k.name, byPolicy, want)
		}
	}
}

// TestKeysInDocs: docs/queues.md names every argument and key of policies, and docs/policies.md every key of policies that
// RabbitMQ does not know.
func TestKeysInDocs(t *testing.T) {
	queues, policies := page(t, "queues"), page(t, "policies")
	from := strings.Index(policies, "Candlemark's own are")
	to := from + strings.Index(policies[from:], ".\n")
	var own, listed []string
	for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(policies[from:to], -1) {
		listed = append(listed, m[1])
	}
	for _, k := range Keys() {
		if k.Own {
			own = append(own, k.Name)
		}
		if k.Argument && !strings.Contains(queues, "`x-"+k.Name+"`") {
			t.Errorf("docs/queues.md lacks the argument x-%s", k.Name)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(listed)), own) {
		t.Errorf("docs/policies.md lists as Candlemark's own\n%v, want\n%v", listed, own)
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name + ".md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestKeysOfPages: the web pages know every key of policies that has an effect. CANDLEMARK_REWRITE writes their list anew.
func TestKeysOfPages(t *testing.T) {
	const file = "../internal/admin/httpapi/ui/static/keys.js"
	var b strings.Builder
	b.WriteString("// The keys of policies that have an effect: name, values, meaning. A test writes this list from the table in policies/table.go.\n\n" +
		"export const keys = [\n")
	for _, k := range Keys() {
		if k.Policy && k.Idle == "" {
			fmt.Fprintf(&b, "  ['%s', '%s', '%s'],\n", k.Name, k.Value, k.Means)
		}
	}
	b.WriteString("];\n")
	if os.Getenv("CANDLEMARK_REWRITE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != b.String() {
		t.Errorf("%s differs from the table (%v): run this test with CANDLEMARK_REWRITE=1", file, err)
	}
}
