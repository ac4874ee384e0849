package effects

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/policies"
	"candlemark/policies/changes"
)

// historyForm is the form of a history, newest change first.
type historyForm struct {
	VHost   string     `json:"vhost"`
	Changes []madeForm `json:"changes"`
}

// madeForm is the form of a change that was made.
type madeForm struct {
	ID   uint64 `json:"id"`
	Time string `json:"time"`
	changes.By
	Undoes   *uint64    `json:"undoes"`
	Policies int        `json:"policies"`
	Changed  []editForm `json:"changed"`
}

type editForm struct {
	Name     string           `json:"name"`
	Operator bool             `json:"operator"`
	Before   *policies.Policy `json:"before"`
	After    *policies.Policy `json:"after"`
}

// history shows the last changes of policies.
func history(ctx context.Context, b management.PolicyEffects, a *asked) (any, error) {
	log, err := b.PolicyHistory(ctx, a.vhost)
	if err != nil {
		return nil, err
	}
	form := historyForm{a.vhost, []madeForm{}}
	for _, c := range slices.Backward(log) {
		m := madeForm{ID: c.ID, Time: forms.Stamp(c.At), By: c.By, Policies: c.Count, Changed: []editForm{}}
		if c.Undoes != 0 {
			m.Undoes = &c.Undoes
		}
		for _, e := range c.Edits {
			m.Changed = append(m.Changed, editForm{e.Policy().Name, e.Policy().Operator, e.Before, e.After})
		}
		form.Changes = append(form.Changes, m)
	}
	return form, nil
}

// undoneForm is the answer for an undone change.
type undoneForm struct {
	Undone uint64 `json:"undone"`
	Change uint64 `json:"change"` // its own number in the history
}

// undo undoes a change.
func undo(ctx context.Context, b management.PolicyEffects, a *asked) (any, error) {
	if a.fields["id"] == nil {
		return nil, rest.Complaint("[{key_missing,id}]")
	}
	written := a.text("id")
	id, err := strconv.ParseUint(written, 10, 64)
	if err != nil || id == 0 {
		return nil, rest.Complaint("id should be the number of a change, actually was " + written)
	}
	change, err := b.UndoPolicyChange(ctx, a.vhost, id, a.by.MayChange(auth.OperatorPolicies))
	switch {
	case errors.Is(err, changes.ErrUnknown):
		return nil, rest.Nonexistent("no change " + written + " in the history of policies of vhost '" + a.vhost + "'")
	case errors.Is(err, changes.ErrOperator):
		return nil, errNotAdministrator
	case errors.As(err, new(*changes.Conflict)):
		return nil, rest.Refuse(http.StatusConflict, "conflict", err.Error())
	case err != nil:
		return nil, err
	}
	return undoneForm{id, change}, nil
}
