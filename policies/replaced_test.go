package policies

import (
	"slices"
	"strings"
	"testing"
)

// Of the policies that would apply without an entity's policy, the first in order is reported, with the lost limits.
func TestReplaced_SBE15(t *testing.T) {
	parse := func(name string, operator bool, body string) *Policy {
		t.Helper()
		p, err := Parse("/", name, operator, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	entity := parse(EntityPrefix+"orders", false, `{"pattern":"^orders$","priority":100,"apply-to":"queues","definition":{
		"message-ttl":5000,"delivery-limit":9,"consumer-timeout":60000,"expires-renewed-by":"publish"}}`)
	low := parse("low", false, `{"pattern":"","definition":{"max-length":1}}`)
	mine := parse("mine", false, `{"pattern":"^ord","priority":5,"definition":{
		"message-ttl":1000,"delivery-limit":20,"max-length":10,"overflow":"reject-publish","consumer-timeout":1000,"dead-letter-exchange":"x"}}`)
	for name, c := range map[string]struct {
		all    []*Policy
		kind   Kind
		want   string
		looser string
	}{
		"the first in order":    {[]*Policy{low, mine, entity}, KindQuorumQueue, "mine", "consumer-timeout,max-length,message-ttl,overflow"},
		"none":                  {[]*Policy{entity}, KindQuorumQueue, "", ""},
		"a higher priority":     {[]*Policy{parse("high", false, `{"pattern":"","priority":101,"definition":{"max-length":1}}`), entity}, KindQuorumQueue, "", ""},
		"an operator policy":    {[]*Policy{parse("op", true, `{"pattern":"","definition":{"max-length":1}}`), entity}, KindQuorumQueue, "", ""},
		"other names":           {[]*Policy{parse("p", false, `{"pattern":"^x","definition":{"max-length":1}}`), entity}, KindQuorumQueue, "", ""},
		"another kind":          {[]*Policy{parse("p", false, `{"pattern":"","apply-to":"exchanges","definition":{"message-ttl":1}}`), entity}, KindQuorumQueue, "", ""},
		"of exchanges":          {[]*Policy{low, entity}, KindExchange, "low", "max-length"},
		"limits that are kept":  {[]*Policy{parse("p", false, `{"pattern":"","definition":{"message-ttl":5000,"delivery-limit":9}}`), entity}, KindQuorumQueue, "p", ""},
		"settings of no limits": {[]*Policy{parse("p", false, `{"pattern":"","definition":{"dead-letter-exchange":"x"}}`), entity}, KindQuorumQueue, "p", ""},
	} {
		got, looser := Replaced(c.all, entity, c.kind, "orders")
		name2 := ""
		if got != nil {
			name2 = got.Name
		}
		if name2 != c.want || strings.Join(looser, ",") != c.looser {
			t.Errorf("%s: %q without %q, want %q without %q", name, name2, looser, c.want, c.looser)
		}
	}

	// Additional uses of an entity's policy do not renew a lease that an operator policy limits; additional uses of other
	// policies do.
	limit, own := parse("op", true, `{"pattern":"","definition":{"expires":1000}}`), parse("own", false, `{"pattern":"","definition":{"expires-renewed-by":"publish"}}`)
	none := parse("op", true, `{"pattern":"","definition":{"max-length":1}}`)
	for _, c := range []struct {
		user, operator *Policy
		renewed        bool
	}{{entity, limit, false}, {entity, none, true}, {own, limit, true}, {entity, nil, true}} {
		if _, has := Merge(c.user, c.operator).Get(keyRenewedBy); has != c.renewed {
			t.Errorf("%s under %v: renewed %v", c.user.Name, c.operator, has)
		}
	}
}

// Each key of operator policies limits an entity (SBE-15): the merged value is never looser than the operator's.
func TestOperatorLimitsEntities_SBE15(t *testing.T) {
	loose := map[string]string{
		keyMessageTTL: "9000", keyExpires: "9000", keyMaxLength: "9000", keyMaxLengthBytes: "9000", "max-in-memory-length": "9000", "max-in-memory-bytes": "9000",
		keyOverflow: `"drop-head"`, keyDeliveryLimit: "9000", "queue-version": "2", "target-group-size": "1", keyRetryType: `"disabled"`, keyRetryMin: "1", keyRetryMax: "9000",
	}
	tight := map[string]string{keyOverflow: `"reject-publish"`, "queue-version": "1", "target-group-size": "5", keyRetryType: `"failed"`, keyRetryMin: "5", keyRetryMax: "7"}
	var tested []string
	for i := range allKeys {
		key, k := allKeys[i].name, allKeys[i].policy
		if k.operator == nil {
			continue
		}
		want := tight[key]
		if want == "" {
			want = "7"
		}
		more := ""
		if key == keyRetryType {
			more = `,"delayed-retry-min":1`
		}
		user, err := Parse("/", EntityPrefix+"q", false, []byte(`{"pattern":"","priority":100,"definition":{"`+key+`":`+loose[key]+more+`}}`))
		if err != nil {
			t.Fatal(key, err)
		}
		operator, err := Parse("/", "op", true, []byte(`{"pattern":"","definition":{"`+key+`":`+want+more+`}}`))
		if err != nil {
			t.Fatal(key, err)
		}
		if got, _ := Merge(user, operator).Get(key); string(appendJSON(nil, got)) != want {
			t.Errorf("%s: %v, want %s", key, got, want)
		}
		tested = append(tested, key)
	}
	if slices.Sort(tested); len(tested) != len(loose) {
		t.Errorf("tested %q", tested)
	}
}
