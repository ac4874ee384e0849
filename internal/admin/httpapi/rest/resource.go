package rest

import (
	"reflect"
	"slices"
)

// Resource is a kind of objects that the API lists and shows.
type Resource[T any] struct {
	// Items returns the objects named in the path that the user may see.
	Items func(*Request) ([]T, error)
	// Name returns the name for filters of lists; nil if clients cannot choose a view.
	Name func(*T) string
}

// List answers with all objects.
func (x Resource[T]) List(r *Request) (any, error) {
	items, err := x.Items(r)
	if err != nil || x.Name == nil {
		return items, err
	}
	return list(r, items, x.Name)
}

// Some is List, but answers 404 for an empty list.
func (x Resource[T]) Some(r *Request) (any, error) {
	items, err := x.Items(r)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, ErrNotFound
	}
	return list(r, items, x.Name)
}

// One answers with the object named in the path.
func (x Resource[T]) One(r *Request) (any, error) {
	item, err := x.Find(r)
	if err != nil || x.Name == nil {
		return item, err
	}
	return One(r, item), nil
}

// Find returns the object named in the path. Error: ErrNotFound.
func (x Resource[T]) Find(r *Request) (*T, error) {
	items, err := x.Items(r)
	return Find(items, err, All)
}

// Created answers requests that create an object, or change it: 201 or 204.
func Created(put func(*Request) (created bool, err error)) Handler {
	return func(r *Request) (any, error) {
		isNew, err := put(r)
		return Stored(isNew), err
	}
}

// Found answers requests that delete an object: 204, or 404 if there was none.
func Found(end func(*Request) (found bool, err error)) Handler {
	return func(r *Request) (any, error) {
		was, err := end(r)
		if err == nil && !was {
			err = ErrNotFound
		}
		return nil, err
	}
}

// Always returns a handler that always answers v.
func Always(v any) Handler { return func(*Request) (any, error) { return v, nil } }

// All is a filter that accepts every item.
func All[T any](*T) bool { return true }

// Find returns the first wanted object. Error: err, from getting the items, or ErrNotFound.
func Find[T any](items []T, err error, wanted func(*T) bool) (*T, error) {
	if err != nil {
		return nil, err
	}
	for i := range items {
		if wanted(&items[i]) {
			return &items[i], nil
		}
	}
	return nil, ErrNotFound
}

// Forms returns the JSON forms of the shown objects.
func Forms[T, F any](items []T, shown func(*T) bool, form func(*T) F) []F {
	list := make([]F, 0, len(items))
	for i := range items {
		if shown(&items[i]) {
			list = append(list, form(&items[i]))
		}
	}
	return list
}

// ListForms answers with the forms of the shown objects, which are made when they are sent. A filter compares the result of name.
// Error: err, from getting the objects.
func ListForms[T, F any](r *Request, items []T, err error, shown func(*T) bool, form func(*T) F, name func(*T) string) (any, error) {
	if err != nil {
		return nil, err
	}
	if err := r.Charge(int64(len(items)) * int64(reflect.TypeFor[T]().Size())); err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(item T) bool { return !shown(&item) })
	return Listing[T, F]{Keys: items, Name: name, Get: func(some []T) ([]F, error) { return Forms(some, All, form), nil }}.Answer(r)
}

// Count returns how many objects are wanted.
func Count[T any](items []T, wanted func(*T) bool) (n int) {
	for i := range items {
		if wanted(&items[i]) {
			n++
		}
	}
	return n
}
