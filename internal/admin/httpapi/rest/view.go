package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/text/jsonencode"
)

// Limits on what a client may ask of a list.
const (
	defaultPage = 100
	maxPage     = 500
	maxFilter   = 1024 // characters of a regular expression
	maxColumns  = 256
)

// view has the parameters of a list: sorting, filtering by name, pagination, columns. Columns of nested objects have
// paths with dots.
type view struct {
	columns     [][]string // nil for all
	sort        []string   // path, nil for the order it has
	reverse     bool
	natural     bool // texts are sorted by the values of the numbers in them: q2 before q10
	page, size  int  // page 0: all of it
	name        string
	use         bool // name is a regular expression
	badFilter   bool
	filter      *regexp.Regexp
	lowerFilter string
}

// viewOf reads the query.
func viewOf(q url.Values) (v view, err error) {
	for _, column := range strings.FieldsFunc(q.Get("columns"), func(r rune) bool { return r == ',' }) {
		v.columns = append(v.columns, path(column))
	}
	if len(v.columns) > maxColumns {
		return v, badView("Invalid columns: at most %d", maxColumns)
	}
	v.sort, v.reverse = path(q.Get("sort")), q.Get("sort_reverse") == "true"
	v.natural = q.Get("natural") == "true"
	page, size := q.Get("page"), q.Get("page_size")
	if page == "" {
		return v, nil
	}
	var badPage, badSize error
	v.size = defaultPage
	v.page, badPage = strconv.Atoi(page)
	if size != "" {
		v.size, badSize = strconv.Atoi(size)
	}
	if badPage != nil || badSize != nil {
		return v, Complaint("Pagination parameters are invalid")
	}
	if v.page < 1 || v.size < 1 || v.size > maxPage {
		return v, badView("Invalid pagination parameters: page number %d, page size %d", v.page, v.size)
	}
	v.name, v.lowerFilter = q.Get("name"), strings.ToLower(q.Get("name"))
	if q.Get("use_regex") == "true" {
		v.use = true
		return v, v.compile()
	}
	return v, nil
}

func badView(format string, args ...any) error {
	return Refuse(http.StatusBadRequest, "invalid_pagination_parameters", fmt.Sprintf(format, args...))
}

// compile reads the name as a regular expression. An invalid expression matches nothing.
func (v *view) compile() (err error) {
	v.filter, err = NameFilter("(?i)", v.name)
	v.badFilter = v.filter == nil
	if errors.As(err, new(*syntax.Error)) {
		return nil
	}
	return err
}

// NameFilter reads an expression for names that a client may send, with flags such as (?i) before it. Errors:
// *syntax.Error, or the client's error for an expression that is too long or would take too much time.
func NameFilter(flags, expression string) (*regexp.Regexp, error) {
	if len(expression) > maxFilter {
		return nil, badView("name filter regex is too long")
	}
	parsed, err := syntax.Parse(flags+expression, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if weight(parsed) > heaviestFilter {
		return nil, badView("name filter regex is too costly")
	}
	return regexp.Compile(flags + expression)
}

func path(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '.' })
}

// matches reports whether an item of that name is shown.
func (v *view) matches(name string) bool {
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

// PageByDefault has a list answered by pages, also if the client asked for all of it: for lists of which mostly the beginning is wanted.
func (r *Request) PageByDefault() {
	if q := r.URL.Query(); q.Get("page") == "" {
		q.Set("page", "1")
		r.URL.RawQuery = q.Encode()
	}
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

// Listing is a list whose objects are made when it is known which of them are shown.
type Listing[K, F any] struct {
	Keys []K                    // in the order of the default sort
	Name func(*K) string        // what a filter looks at
	Get  func([]K) ([]F, error) // the forms of the objects that still exist
	// By are the columns that the keys know, so that a page sorted by one of them takes no more objects than it shows. It is sorted by what they
	// knew when they were made, and then by what the objects show.
	By map[string]func(*K) Key
}

// Answer returns the list as the client wants to see it.
func (l Listing[K, F]) Answer(r *Request) (any, error) {
	v, err := viewOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	keys, total := l.Keys, len(l.Keys)
	if v.page > 0 {
		if keys, err = filtered(r.Context(), &v, keys, l.Name); err != nil {
			return nil, err
		}
	}
	_, known := l.By[strings.Join(v.sort, ".")]
	early := known && v.page > 0 || len(keys) > atOnce // the order is known before all objects are made
	if early && len(v.sort) > 0 {
		if keys, err = l.sortOrder(&v, keys); err != nil {
			return nil, err
		}
	}
	if early = early || len(v.sort) == 0 && v.page > 0; early && v.reverse {
		slices.Reverse(keys)
	}
	if v.page == 0 && len(keys) > atOnce {
		return l.series(&v, keys)
	}
	count := len(keys)
	if early && v.page > 0 {
		if keys, err = pageOf(&v, keys); err != nil {
			return nil, err
		}
	}
	part, err := l.Get(keys)
	if err != nil {
		return nil, err
	}
	if part = resortPage(&v, part, early); v.page == 0 {
		return v.selectColumns(part), nil
	}
	if !early {
		count = len(part)
		if part, err = pageOf(&v, part); err != nil {
			return nil, err
		}
	}
	return pageItem{
		Filtered: count, Count: len(part), Items: v.selectColumns(part), Page: v.page,
		Pages: (count + v.size - 1) / v.size, Size: v.size, Total: total,
	}, nil
}

// sortOrder returns the keys in the order of the wanted column. If objects have to be made for the order, atOnce at a
// time, only their values are kept; keys of objects that no longer exist are left out.
func (l Listing[K, F]) sortOrder(v *view, keys []K) ([]K, error) {
	if by, known := l.By[strings.Join(v.sort, ".")]; known {
		return sortKeys(v, keys, by), nil
	}
	var values []Key
	kept, known := make([]K, 0, len(keys)), fields{}
	var add func(part []K) error
	add = func(part []K) error {
		items, err := l.Get(part)
		switch {
		case err != nil:
			return err
		case len(items) < len(part) && len(part) > 1: // some are gone
			return cmp.Or(add(part[:len(part)/2]), add(part[len(part)/2:]))
		}
		for i := range items {
			kept = append(kept, part[i])
			values = append(values, known.at(reflect.ValueOf(&items[i]), v.sort).short())
		}
		return nil
	}
	for part := range slices.Chunk(keys, atOnce) {
		if err := add(part); err != nil {
			return nil, err
		}
	}
	places := make([]int, len(kept))
	for i := range places {
		places[i] = i
	}
	byKeys(v, places, values)
	return atPlaces(kept, places), nil
}

// series returns the whole list of keys.
func (l Listing[K, F]) series(v *view, keys []K) (any, error) {
	s := &series{count: len(keys), next: func(from, to int) (any, error) {
		items, err := l.Get(keys[from:to])
		return v.selectColumns(items), err
	}}
	var err error
	s.first, err = s.next(0, atOnce)
	return s, err
}

// sortKeys returns keys sorted by the values they have; equal ones stay in order.
func sortKeys[K any](v *view, keys []K, by func(*K) Key) []K {
	places, known := make([]int, len(keys)), make([]Key, len(keys))
	for i := range keys {
		places[i], known[i] = i, by(&keys[i])
	}
	byKeys(v, places, known)
	return atPlaces(keys, places)
}

// resortPage returns objects in the order of what they show: that may have changed since the order of their keys was determined, if
// it was (early).
func resortPage[F any](v *view, part []F, early bool) []F {
	if len(v.sort) == 0 && early {
		return part
	}
	if v.reverse && early {
		part = slices.Clone(part)
		slices.Reverse(part)
	}
	places := order(v, part)
	if v.reverse {
		slices.Reverse(places)
	}
	return atPlaces(part, places)
}

// list returns the answer of items, which are in the order of the default sort. A filter compares the result of name.
func list[T any](r *Request, items []T, name func(*T) string) (any, error) {
	return Listing[T, T]{Keys: items, Name: name, Get: func(shown []T) ([]T, error) { return shown, nil }}.Answer(r)
}

// atPlaces returns the items at those places.
func atPlaces[T any](items []T, places []int) []T {
	list := make([]T, len(places))
	for i, place := range places {
		list[i] = items[place]
	}
	return list
}

// pageOf returns the page of items that is wanted.
func pageOf[T any](v *view, items []T) ([]T, error) {
	if v.page-1 > len(items)/v.size { // the product does not overflow for any page
		return nil, Refuse(http.StatusBadRequest, "page_out_of_range",
			fmt.Sprintf("Page out of range, page: %d page size: %d, len: %d", v.page, v.size, len(items)))
	}
	start := (v.page - 1) * v.size
	return items[start:min(start+v.size, len(items))], nil
}

// One returns the answer of one object, of which the client may want some columns only.
func One(r *Request, item any) any {
	if v, err := viewOf(r.URL.Query()); err == nil && v.columns != nil {
		return pick(Generic(item), v.columns)
	}
	return item
}

// selectColumns is items with the wanted columns only, or as they are.
func (v *view) selectColumns(items any) any {
	if v.columns == nil {
		return items
	}
	list := []any{}
	for _, item := range Generic(items).([]any) {
		list = append(list, pick(item, v.columns))
	}
	return list
}

// pick returns the parts of a value that columns name.
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

// Generic returns a value as its JSON form reads.
func Generic(v any) any {
	d := json.NewDecoder(bytes.NewReader(jsonencode.Marshal(v)))
	d.UseNumber()
	var g any
	if err := d.Decode(&g); err != nil {
		panic(err) // it was just encoded
	}
	return g
}
