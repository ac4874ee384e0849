package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"candlemark/internal/admin/management"
	"candlemark/internal/measure/queuestats"
	"candlemark/internal/text/jsonencode"

	"github.com/rs/zerolog"
)

// fleet is a broker with queues that differ in name, virtual host and number of messages.
func fleet() *fake {
	f := newFake("/", "dev")
	for i, name := range []string{"Orders", "audit", "orders.dead", "x%y"} {
		f.queues = append(f.queues, management.Queue{VHost: "/", Name: name, Type: "classic", Figures: queuestats.Figures{Ready: 10 - i}, State: "running"})
	}
	f.queues = append(f.queues, management.Queue{VHost: "dev", Name: "orders", Type: "quorum", Figures: queuestats.Figures{Ready: 100}, State: "running"})
	return f
}

func TestLists(t *testing.T) {
	h := NewHandler(fleet(), users, zerolog.Nop())
	page := func(filtered, count, page, pages, size int, names string) string {
		return fmt.Sprintf("filtered %d of 5, %d on page %d of %d with %d: %s", filtered, count, page, pages, size, names)
	}
	for _, test := range []struct{ name, query, want string }{
		{"plain", "", "Orders audit orders.dead x%y orders"},
		{"name does not filter without a page", "name=order", "Orders audit orders.dead x%y orders"},
		{"sorted by name, as texts", "sort=name", "Orders audit orders orders.dead x%y"},
		{"sorted by a number", "sort=messages", "x%y orders.dead audit Orders orders"},
		{"the other way round", "sort=messages&sort_reverse=true", "orders Orders audit orders.dead x%y"},
		{"sorted by a path", "sort=message_stats.publish_details.rate&sort_reverse=true", "orders x%y orders.dead audit Orders"},
		{"sorted by nothing that there is", "sort=nothing", "Orders audit orders.dead x%y orders"},
		{"reversed alone", "sort_reverse=true", "orders x%y orders.dead audit Orders"},
		{"page", "page=1", page(5, 5, 1, 1, 100, "Orders audit orders.dead x%y orders")},
		{"page of two", "page=2&page_size=2", page(5, 2, 2, 3, 2, "orders.dead x%y")},
		{"last page", "page=3&page_size=2&sort=name", page(5, 1, 3, 3, 2, "x%y")},
		{"filter", "page=1&name=ORDER", page(3, 3, 1, 1, 100, "Orders orders.dead orders")},
		{"filter is no expression", "page=1&name=x%25y", page(1, 1, 1, 1, 100, "x%y")},
		{"expression", "page=1&page_size=1&name=^orders$&use_regex=true", page(2, 1, 1, 2, 1, "Orders")},
		{"no expression", "page=1&name=%5B&use_regex=true", page(0, 0, 1, 0, 100, "")},
		{"columns", "page=1&page_size=1&columns=name,message_stats.publish", page(5, 1, 1, 5, 1, "Orders")},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := do(t, h, guest, "GET", "/api/queues?"+strings.ReplaceAll(test.query, "^orders$", url.QueryEscape("^orders$")), "")
			if got := summary(t, w.Body.Bytes()); w.Code != 200 || got != test.want {
				t.Errorf("\n got %d %s\nwant %s", w.Code, got, test.want)
			}
		})
	}
}

// summary formats the names in a list and the numbers of its page.
func summary(t *testing.T, body []byte) string {
	var page struct {
		Filtered int `json:"filtered_count"`
		Count    int `json:"item_count"`
		Items    []struct{ Name string }
		Page     int
		Pages    int `json:"page_count"`
		Size     int `json:"page_size"`
		Total    int `json:"total_count"`
	}
	paged := body[0] == '{'
	var err error
	if paged {
		err = json.Unmarshal(body, &page)
	} else {
		err = json.Unmarshal(body, &page.Items)
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range page.Items {
		names = append(names, item.Name)
	}
	if !paged {
		return strings.Join(names, " ")
	}
	return fmt.Sprintf("filtered %d of %d, %d on page %d of %d with %d: %s",
		page.Filtered, page.Total, page.Count, page.Page, page.Pages, page.Size, strings.Join(names, " "))
}

func TestListsRefused(t *testing.T) {
	h := NewHandler(fleet(), users, zerolog.Nop())
	for query, want := range map[string]refusal{
		"page=x":             {"bad_request", "Pagination parameters are invalid"},
		"page=1&page_size=x": {"bad_request", "Pagination parameters are invalid"},
		"page=0":             {"invalid_pagination_parameters", "Invalid pagination parameters: page number 0, page size 100"},
		"page=1&page_size=501": {
			"invalid_pagination_parameters",
			"Invalid pagination parameters: page number 1, page size 501",
		},
		"page=5&page_size=2": {"page_out_of_range", "Page out of range, page: 5 page size: 2, len: 5"},
		"page=1&use_regex=true&name=" + strings.Repeat("x", 1025): {"invalid_pagination_parameters", "name filter regex is too long"},
	} {
		if w := do(t, h, guest, "GET", "/api/queues?"+query, ""); w.Code != http.StatusBadRequest || w.Body.String() != string(jsonencode.Marshal(want)) {
			t.Errorf("%.60s: %d %s", query, w.Code, w.Body)
		}
	}
}

func TestColumns(t *testing.T) {
	h := NewHandler(fleet(), users, zerolog.Nop())
	run(t, h, []step{
		{"GET", "/api/queues/dev?columns=name,messages", "", 200, `[{"messages":100,"name":"orders"}]`},
		{
			"GET", "/api/queues/dev/orders?columns=message_stats.publish_details.rate,arguments,nothing", "", 200,
			`{"arguments":{},"message_stats":{"publish_details":{"rate":0}}}`,
		},
		{"GET", "/api/queues/dev?columns=message_stats.ack,message_stats.get", "", 200, `[{"message_stats":{"ack":0,"get":0}}]`},
		{"GET", "/api/queues/dev/orders?disable_stats=true", "", 200, `{"arguments":{},"auto_delete":false,"delivery_limit":0,"durable":false,` +
			`"effective_policy_definition":{},"exclusive":false,"leader":"candlemark@here","members":["candlemark@here"],"name":"orders","node":"candlemark@here","online":["candlemark@here"],"operator_policy":null,` +
			`"policy":null,"state":"running","type":"quorum","vhost":"dev"}`},
		{"GET", "/api/queues/dev?disable_stats=true&enable_queue_totals=true&columns=messages_ready", "", 200, `[{"messages_ready":100}]`},
	})
}

// Users without access to a virtual host do not see its objects.
func TestListsOfOthers(t *testing.T) {
	h := NewHandler(fleet(), users, zerolog.Nop())
	if got := summary(t, do(t, h, "viewer:v", "GET", "/api/queues", "").Body.Bytes()); got != "Orders audit orders.dead x%y" {
		t.Error(got)
	}
	const refused = `{"error":"not_authorised","reason":"User not authorised to access virtual host"}`
	for _, path := range []string{"/api/queues/dev", "/api/queues/dev/orders", "/api/exchanges/dev", "/api/bindings/dev", "/api/vhosts/dev/connections"} {
		if w := do(t, h, "viewer:v", "GET", path, ""); w.Code != 401 || w.Body.String() != refused {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/api/nodes", "/api/nodes/x"} {
		if w := do(t, h, "viewer:v", "GET", path, ""); w.Code != 401 || w.Body.String() != `{"error":"not_authorised","reason":"Not monitor user"}` {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/api/feature-flags", "/api/deprecated-features", "/api/deprecated-features/used"} {
		if w := do(t, h, "viewer:v", "GET", path, ""); w.Code != 200 { // any tag is sufficient, as in RabbitMQ 4.0.5
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// A page or page size that is too large causes an error.
func TestPageBeyondAllPages(t *testing.T) {
	h := NewHandler(fleet(), users, zerolog.Nop())
	for query, want := range map[string]int{
		"page=9223372036854775807":               400,
		"page=9223372036854775807&page_size=500": 400,
		"page=4611686018427387905&page_size=4":   400,
		"page=99999999999999999999":              400,
		"page=1&page_size=9223372036854775807":   400,
		"page=-9223372036854775808&page_size=1":  400,
		"page=6&page_size=1":                     200,
		"page=7&page_size=1":                     400,
	} {
		if w := do(t, h, guest, "GET", "/api/queues?"+query, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", query, w.Code, want)
		}
	}
}

// The cost of a filter is bounded: expensive expressions and too many columns are refused.
func TestCostOfAFilterIsBounded(t *testing.T) {
	h := NewHandler(fleet(), users, zerolog.Nop())
	for filter, want := range map[string]int{
		`^orders\.(dead|live)$`:          200,
		`a{1000}`:                        200,
		`(a{30}){30}`:                    200,
		strings.Repeat("x", 1024):        200,
		`((a{10}b*){10}c?){9}`:           400,
		`\pL{10}`:                        400,
		strings.Repeat(`\pL`, 340):       400,
		strings.Repeat(`(x?){500}`, 100): 400,
		strings.Repeat("x", 1025):        400,
	} {
		path := "/api/queues?page=1&use_regex=true&name=" + url.QueryEscape(filter)
		if w := do(t, h, guest, "GET", path, ""); w.Code != want {
			t.Errorf("%.30s: %d %s, want %d", filter, w.Code, w.Body, want)
		}
	}
	if w := do(t, h, guest, "GET", "/api/queues?columns="+strings.Repeat("a,", 257), ""); w.Code != 400 {
		t.Errorf("257 columns: %d", w.Code)
	}
}
