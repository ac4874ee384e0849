package httpapi

// resource is a kind of objects that the API lists and shows.
type resource[T any] struct {
	// items are those that the path names and the user may see.
	items func(*request) ([]T, error)
	// name returns the name that filters of lists look at; nil where clients cannot choose a view.
	name func(*T) string
}

// list answers with all of them.
func (x resource[T]) list(r *request) (any, error) {
	items, err := x.items(r)
	if err != nil || x.name == nil {
		return items, err
	}
	return list(r, items, x.name)
}

// some is list for what is only there if there are any.
func (x resource[T]) some(r *request) (any, error) {
	items, err := x.items(r)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errNotFound
	}
	return list(r, items, x.name)
}

// one answers with the one that the path names.
func (x resource[T]) one(r *request) (any, error) {
	item, err := x.find(r)
	if err != nil || x.name == nil {
		return item, err
	}
	return one(r, item), nil
}

func (x resource[T]) find(r *request) (*T, error) {
	items, err := x.items(r)
	return find(items, err, all)
}

// created answers for what makes an object, or changes it.
func created(put func(*request) (created bool, err error)) handler {
	return func(r *request) (any, error) {
		isNew, err := put(r)
		return stored(isNew), err
	}
}

// found answers for what ends an object.
func found(end func(*request) (found bool, err error)) handler {
	return func(r *request) (any, error) {
		was, err := end(r)
		if err == nil && !was {
			err = errNotFound
		}
		return nil, err
	}
}

// always answers with the same.
func always(v any) handler { return func(*request) (any, error) { return v, nil } }

// all of a list are wanted.
func all[T any](*T) bool { return true }

// find is the first object that is wanted. Error: that of getting them, or errNotFound.
func find[T any](items []T, err error, wanted func(*T) bool) (*T, error) {
	if err != nil {
		return nil, err
	}
	for i := range items {
		if wanted(&items[i]) {
			return &items[i], nil
		}
	}
	return nil, errNotFound
}

// forms are the JSON forms of those objects that are shown.
func forms[T, F any](items []T, shown func(*T) bool, form func(*T) F) []F {
	list := make([]F, 0, len(items))
	for i := range items {
		if shown(&items[i]) {
			list = append(list, form(&items[i]))
		}
	}
	return list
}

// listForms answers with the forms of those objects that are shown. Error: that of getting them.
func listForms[T, F any](r *request, items []T, err error, shown func(*T) bool, form func(*T) F, name func(*F) string) (any, error) {
	if err != nil {
		return nil, err
	}
	return list(r, forms(items, shown, form), name)
}

// count is how many objects are wanted.
func count[T any](items []T, wanted func(*T) bool) (n int) {
	for i := range items {
		if wanted(&items[i]) {
			n++
		}
	}
	return n
}
