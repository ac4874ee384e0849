package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Limits on what a client may ask of a list.
const (
	defaultPage   = 100
	largestPage   = 500
	longestFilter = 1024 // characters of a regular expression
	mostColumns   = 256
)

// view is how a client wants to see a list: sorted, filtered by name, a page of
// it, only some columns. Paths name what is inside by dots.
type view struct {
	columns     [][]string // nil for all
	sort        []string   // path, nil for the order it has
	reverse     bool
	page, size  int // page 0: all of it
	name        string
	use         bool // name is a regular expression
	badFilter   bool
	filter      *regexp.Regexp
	lowerFilter string
}

// viewOf reads the query; reason is what to tell about one that is wrong.
func viewOf(q url.Values) (v view, reason string) {
	for _, column := range strings.FieldsFunc(q.Get("columns"), func(r rune) bool { return r == ',' }) {
		v.columns = append(v.columns, path(column))
	}
	if len(v.columns) > mostColumns {
		return v, fmt.Sprintf("Invalid columns: at most %d", mostColumns)
	}
	v.sort, v.reverse = path(q.Get("sort")), q.Get("sort_reverse") == "true"
	page, size := q.Get("page"), q.Get("page_size")
	if page == "" {
		return v, ""
	}
	var badPage, badSize error
	v.size = defaultPage
	v.page, badPage = strconv.Atoi(page)
	if size != "" {
		v.size, badSize = strconv.Atoi(size)
	}
	if badPage != nil || badSize != nil {
		return v, "Pagination parameters are invalid"
	}
	if v.page < 1 || v.size < 1 || v.size > largestPage {
		return v, fmt.Sprintf("Invalid pagination parameters: page number %d, page size %d", v.page, v.size)
	}
	v.name, v.use = q.Get("name"), q.Get("use_regex") == "true"
	if v.use {
		if len(v.name) > longestFilter {
			return v, "name filter regex is too long"
		}
		parsed, err := syntax.Parse("(?i)"+v.name, syntax.Perl)
		if err == nil && weight(parsed) > heaviestFilter {
			return v, "name filter regex is too costly"
		}
		v.badFilter = err != nil // one that is none matches nothing
		if !v.badFilter {
			v.filter, err = regexp.Compile("(?i)" + v.name)
			v.badFilter = err != nil
		}
	}
	v.lowerFilter = strings.ToLower(v.name)
	return v, ""
}

func path(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '.' })
}

// keeps tells whether an item of that name is shown.
func (v *view) keeps(name string) bool {
	switch {
	case v.name == "":
		return true
	case v.badFilter:
		return false
	case v.use:
		return v.filter.MatchString(name)
	}
	return strings.Contains(strings.ToLower(name), v.lowerFilter)
}

// pageItem is the form of a page of a list.
type pageItem struct {
	Filtered int `json:"filtered_count"`
	Count    int `json:"item_count"`
	Items    any `json:"items"`
	Page     int `json:"page"`
	Pages    int `json:"page_count"`
	Size     int `json:"page_size"`
	Total    int `json:"total_count"`
}

// list answers with items, which are in the order of the default sort. name is
// what a filter looks at.
func list[T any](r *request, items []T, name func(*T) string) {
	v, reason := viewOf(r.URL.Query())
	if reason != "" {
		what := "invalid_pagination_parameters"
		if strings.HasPrefix(reason, "Pagination") {
			what = "bad_request"
		}
		fail(r.w, http.StatusBadRequest, what, reason)
		return
	}
	total := len(items)
	if v.page > 0 {
		if items, reason = filtered(r.Context(), &v, items, name); reason != "" {
			fail(r.w, http.StatusServiceUnavailable, "timeout", reason)
			return
		}
	}
	if len(v.sort) > 0 {
		items = sorted(items, v.sort)
	}
	if v.reverse {
		slices.Reverse(items)
	}
	if v.page == 0 {
		answer(r.w, http.StatusOK, v.cut(items))
		return
	}
	if v.page-1 > len(items)/v.size { // whatever the page, nothing overflows
		fail(r.w, http.StatusBadRequest, "page_out_of_range",
			fmt.Sprintf("Page out of range, page: %d page size: %d, len: %d", v.page, v.size, len(items)))
		return
	}
	start := (v.page - 1) * v.size
	part := items[start:min(start+v.size, len(items))]
	answer(r.w, http.StatusOK, pageItem{
		Filtered: len(items), Count: len(part), Items: v.cut(part), Page: v.page,
		Pages: (len(items) + v.size - 1) / v.size, Size: v.size, Total: total,
	})
}

// cut is items with the wanted columns only, or as they are.
func (v *view) cut(items any) any {
	if v.columns == nil {
		return items
	}
	list := []any{}
	for _, item := range generic(items).([]any) {
		list = append(list, pick(item, v.columns))
	}
	return list
}

// pick is what columns name of a value.
func pick(value any, columns [][]string) any {
	switch value := value.(type) {
	case map[string]any:
		picked := map[string]any{}
		for key, inside := range value {
			var below [][]string
			wanted, whole := false, false
			for _, c := range columns {
				if len(c) > 0 && c[0] == key {
					wanted, whole = true, whole || len(c) == 1
					below = append(below, c[1:])
				}
			}
			switch {
			case whole:
				picked[key] = inside
			case wanted:
				picked[key] = pick(inside, below)
			}
		}
		return picked
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = pick(value[i], columns)
		}
		return list
	}
	return value
}

// generic is a value as its JSON form reads.
func generic(v any) any {
	d := json.NewDecoder(bytes.NewReader(encode(v)))
	d.UseNumber()
	var g any
	if err := d.Decode(&g); err != nil {
		panic(err) // it was just encoded
	}
	return g
}
