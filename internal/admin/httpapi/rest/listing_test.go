package rest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Only the objects on a page are read from the broker, if the sort value can be derived from the keys.
func TestPageTakesNoMoreThanItShows(t *testing.T) {
	type item struct {
		Name string `json:"name"`
		Size int    `json:"size"`
	}
	for query, want := range map[string]string{
		"page=2&page_size=3":                                       "3: n3 n4 n5",
		"page=4&page_size=3":                                       "1: n9",
		"page=1&page_size=2&sort_reverse=true":                     "2: n9 n8",
		"page=1&page_size=2&sort=name&sort_reverse=true":           "2: n9 n8",
		"page=1&page_size=9&name=N7":                               "1: n7",
		"page=1&page_size=2&name=[135]$&use_regex=true":            "2: n1 n3",
		"page=1&page_size=2&sort=size":                             "10: n9 n8",
		"page=1&page_size=2&sort=size&name=[135]$&use_regex=true":  "3: n5 n3",
		"page=1&page_size=2&sort=size&sort_reverse=true&name=none": "0:",
		"sort=size": "10: n9 n8 n7 n6 n5 n4 n3 n2 n1 n0",
		"":          "10: n0 n1 n2 n3 n4 n5 n6 n7 n8 n9",
	} {
		keys, taken := []int{}, 0
		for n := range 10 {
			keys = append(keys, n)
		}
		name := func(n *int) string { return fmt.Sprint("n", *n) }
		answer, err := Listing[int, item]{
			Keys: keys, Name: name, By: map[string]func(*int) Key{"name": func(n *int) Key { return TextKey(name(n)) }},
			Get: func(keys []int) ([]item, error) {
				taken += len(keys)
				items := []item{}
				for _, n := range keys {
					items = append(items, item{name(&n), -n})
				}
				return items, nil
			},
		}.Answer(&Request{Request: httptest.NewRequest("GET", "/?"+query, nil)})
		if err != nil {
			t.Fatal(query, err)
		}
		if page, paged := answer.(pageItem); paged {
			answer = page.Items
			if page.Total != 10 {
				t.Errorf("%s: %d in all", query, page.Total)
			}
		}
		got := []string{fmt.Sprintf("%d:", taken)}
		for _, i := range answer.([]item) {
			got = append(got, i.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Of a long list that is sorted by what has to be asked for, no more than a part is held: the order first, then the objects, part by part.
func TestSortedInParts_ACC12(t *testing.T) {
	const count = 5 * atOnce
	type item struct {
		Size int `json:"size"`
	}
	gone := map[int]bool{3: true, 333: true}
	var keys []int
	for n := range count {
		keys = append(keys, n)
	}
	for query, want := range map[string][]int{
		"sort=size":                                      {count - 1, count - 2},
		"sort=size&sort_reverse=true":                    {0, 1, 2, 4},
		"sort=size&page=2&page_size=100":                 {count - 101, count - 102},
		"sort=size&page=1&page_size=4&sort_reverse=true": {0, 1, 2, 4},
	} {
		most := 0
		answer, err := Listing[int, item]{
			Keys: slices.Clone(keys), Name: func(n *int) string { return fmt.Sprint(*n) },
			Get: func(keys []int) (items []item, err error) {
				most = max(most, len(keys))
				for _, n := range keys {
					if !gone[n] {
						items = append(items, item{-n})
					}
				}
				return items, nil
			},
		}.Answer(&Request{Request: httptest.NewRequest("GET", "/?"+query, nil)})
		if err != nil {
			t.Fatal(err)
		}
		var got []item
		switch answer := answer.(type) {
		case pageItem:
			if got = answer.Items.([]item); answer.Filtered != count-len(gone) {
				t.Errorf("%s: %d", query, answer.Filtered)
			}
		case *series:
			if got = answer.first.([]item); answer.count != count-len(gone) {
				t.Errorf("%s: %d", query, answer.count)
			}
		}
		for i, n := range want {
			if got[i].Size != -n {
				t.Errorf("%s: %v", query, got[:len(want)])
			}
		}
		if most > atOnce {
			t.Errorf("%s: %d at a time", query, most)
		}
	}
}

type loud struct{ Word string }

func (l loud) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"word": l.Word + "!"})
}

// Sort values found by reflection equal the values in the item's JSON.
func TestWhatIsSortedBy(t *testing.T) {
	type Inside struct {
		Depth int `json:"depth"`
	}
	type Named struct {
		Colour string `json:"colour"`
	}
	type item struct {
		*Inside
		Named
		Plain  int
		Name   string         `json:"name"`
		Empty  string         `json:"empty,omitempty"`
		None   []int          `json:"none,omitempty"`
		Secret string         `json:"-"`
		Far    *Inside        `json:"far"`
		Any    any            `json:"any"`
		Map    map[string]any `json:"map"`
		Loud   loud           `json:"loud"`
		Number json.Number    `json:"number"`
		Truth  bool           `json:"truth"`
		Share  float64        `json:"share"`
		Count  uint8          `json:"count"`
		hidden int
	}
	items := []item{
		{hidden: 1, Secret: "s", None: []int{}, Number: "0"},
		{
			Inside: &Inside{3}, Named: Named{"red"}, Plain: 4, Name: "n", Empty: "e", None: []int{1}, Far: &Inside{5}, Any: Inside{6},
			Map: map[string]any{"a": Inside{7}}, Loud: loud{"hey"}, Number: "12", Truth: true, Share: 0.5, Count: 200,
		},
	}
	known := fields{}
	for _, path := range []string{
		"", "depth", "colour", "Plain", "name", "empty", "none", "Secret", "-", "far", "far.depth", "any", "any.depth",
		"map.a", "map.a.depth", "map.b.depth", "loud", "loud.word", "loud.Word", "hidden", "number", "truth", "share", "share.of", "count", "name.depth", "none.depth", "Inside", "Inside.depth",
	} {
		for _, i := range items {
			way := strings.FieldsFunc(path, func(r rune) bool { return r == '.' })
			if got, want := known.at(reflect.ValueOf(i), way), keyOf(Generic(i), way); !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %v, want %v", path, got, want)
			}
		}
	}
}

// Texts can be sorted by the values of the numbers in them, in the same total order from any order before.
func TestNaturalOrder(t *testing.T) {
	type item struct {
		Name string `json:"name"`
	}
	want := []string{"", "007", "7", "7a", "10", "q", "q1.10", "q2", "q02b", "q2b9", "q2b10", "q10", "q99999999999999999999", "q100000000000000000000", "é2", "é10"}
	for range 100 {
		items := []item{}
		for _, name := range want {
			items = append(items, item{name})
		}
		rand.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		answer, err := list(&Request{Request: httptest.NewRequest("GET", "/?sort=name&natural=true", nil)}, items, func(i *item) string { return i.Name })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range answer.([]item) {
			got = append(got, i.Name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
	}
}
