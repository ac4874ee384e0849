package effects

import (
	"context"
	"errors"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/policies"
	"candlemark/policies/changes"
)

// previewForm is the form of a preview.
type previewForm struct {
	VHost    string       `json:"vhost"`
	Name     string       `json:"name"`
	Operator bool         `json:"operator"`
	Replaces bool         `json:"replaces"`
	Looked   int          `json:"objects"`
	Hit      int          `json:"hit"`
	Queues   int          `json:"queues"`
	Xs       int          `json:"exchanges"`
	Matches  int          `json:"matches"`
	Applies  int          `json:"applies"`
	Shadows  []countForm  `json:"shadowed_by"`
	Warning  *string      `json:"warning"`
	Loses    []countForm  `json:"loses"`
	Settings []countForm  `json:"settings"`
	Messages queuedForm   `json:"messages"`
	Asked    int          `json:"queues_asked"`
	Silent   int          `json:"queues_unanswered"`
	Items    []impactForm `json:"items"`
}

// countForm is the form of the number of objects that lose a policy, or get another value of a setting.
type countForm struct {
	Name     string `json:"name"`
	Operator bool   `json:"operator"`
	Objects  int    `json:"objects"`
}

type queuedForm struct {
	Retimed       int     `json:"retimed"`
	Restored      int     `json:"restored"`
	Expiring      int     `json:"expire_at_once"`
	AtMost        bool    `json:"at_most"`
	Dropped       int     `json:"dropped_at_once"`
	Earliest      *string `json:"earliest_deadline"`
	Undoable      int     `json:"undoable"`
	UndoableUntil *string `json:"undoable_until"`
}

type impactForm struct {
	Kind           string       `json:"kind"` // queue or exchange
	Name           string       `json:"name"`
	Policy         *string      `json:"policy"`
	OperatorPolicy *string      `json:"operator_policy"`
	Loses          *string      `json:"loses_policy"`
	LosesOperator  *string      `json:"loses_operator_policy"`
	Settings       []changeForm `json:"settings"`
	queuedForm
}

type changeForm struct {
	Key          string  `json:"key"`
	Before       any     `json:"before"`
	BeforeSource *string `json:"before_source"`
	After        any     `json:"after"`
	AfterSource  *string `json:"after_source"`
}

// preview returns the effects of setting, or of clearing, a policy.
func preview(ctx context.Context, b management.PolicyEffects, a *asked) (any, error) {
	if a.operator && !a.by.MayChange(auth.OperatorPolicies) {
		return nil, errNotAdministrator
	}
	if a.fields["name"] == nil {
		return nil, rest.Complaint("[{key_missing,name}]")
	}
	clear, name := a.text("clear") == "true", a.text("name")
	p := &policies.Policy{VHost: a.vhost, Name: name, Operator: a.operator}
	if !clear {
		var err error
		if p, err = policies.Parse(a.vhost, name, a.operator, a.body); err != nil {
			return nil, invalid(err)
		}
	}
	shown, found, err := b.PreviewPolicy(ctx, p, clear)
	switch {
	case err != nil:
		return nil, err
	case clear && !found:
		return nil, rest.Nonexistent("no such policy '" + name + "' in vhost '" + a.vhost + "'")
	}
	reach := &shown.Reach
	form := previewForm{
		VHost: a.vhost, Name: name, Operator: a.operator, Replaces: found,
		Looked: shown.Objects, Hit: shown.Queues + shown.Exchanges, Queues: shown.Queues, Xs: shown.Exchanges,
		Matches: reach.Queues + reach.Exchanges, Applies: reach.Applies, Shadows: counts(reach.ShadowedBy()), Warning: forms.OrNull(reach.Warning()),
		Loses: counts(shown.Loses()), Settings: counts(shown.Keys()), Messages: queued(&shown.Messages),
		Asked: shown.Asked, Silent: shown.Unanswered, Items: []impactForm{},
	}
	for i := range shown.Impacts {
		form.Items = append(form.Items, impact(&shown.Impacts[i]))
	}
	return form, nil
}

var errNotAdministrator = rest.Unauthorised("Not administrator user")

// invalid returns the error for an invalid policy (POL-14).
func invalid(err error) error {
	var wrong *policies.ValidationError
	if errors.As(err, &wrong) {
		return rest.Complaint(wrong.Reason())
	}
	return rest.Complaint(err.Error())
}

func counts(list []changes.Count) []countForm {
	all := []countForm{}
	for _, c := range list {
		all = append(all, countForm(c))
	}
	return all
}

func queued(m *changes.Messages) queuedForm {
	return queuedForm{
		m.Retimed, m.Restored, m.Expiring, m.AtMost, m.Dropped, forms.Optional(m.Earliest), m.Undoable, forms.Optional(m.UndoableUntil),
	}
}

func impact(i *changes.Impact) impactForm {
	form := impactForm{
		Kind: "queue", Name: i.Object.Name, Policy: forms.OrNull(i.After.Policy), OperatorPolicy: forms.OrNull(i.After.OperatorPolicy),
		Settings: []changeForm{}, queuedForm: queued(&i.Messages),
	}
	if i.Object.Kind == policies.KindExchange {
		form.Kind = "exchange"
	}
	policy, operator := i.Loses()
	form.Loses, form.LosesOperator = forms.OrNull(policy), forms.OrNull(operator)
	for _, s := range i.Settings {
		form.Settings = append(form.Settings, changeForm{
			s.Key, s.Before.Value, forms.OrNull(string(s.Before.Source)), s.After.Value, forms.OrNull(string(s.After.Source)),
		})
	}
	return form
}
