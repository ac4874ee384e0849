package effects

import (
	"context"
	"encoding/json"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/policies"
)

// explanationForm is the form of an explanation.
type explanationForm struct {
	VHost          string              `json:"vhost"`
	Name           string              `json:"name"`
	Kind           string              `json:"kind"` // queue or exchange
	Policy         *string             `json:"policy"`
	OperatorPolicy *string             `json:"operator_policy"`
	Effective      policies.Definition `json:"effective_policy_definition"`
	Candidates     []candidateForm     `json:"candidates"`
	Total          int                 `json:"candidates_total"`
	Unmatched      int                 `json:"unmatched"`
	Settings       []settingForm       `json:"settings"`
}

type candidateForm struct {
	Name       string              `json:"name"`
	Operator   bool                `json:"operator"`
	Pattern    string              `json:"pattern"`
	ApplyTo    string              `json:"apply-to"`
	Priority   json.Number         `json:"priority"`
	Definition policies.Definition `json:"definition"`
	Applies    bool                `json:"applies"`
	Why        string              `json:"why"`
}

type settingForm struct {
	Key            string  `json:"key"`
	Value          any     `json:"value"`
	Source         *string `json:"source"`
	Argument       any     `json:"argument"`
	Policy         any     `json:"policy"`
	OperatorPolicy any     `json:"operator_policy"`
	Note           string  `json:"note"`
}

// explain explains which policies apply to a queue or an exchange.
func explain(ctx context.Context, b management.PolicyEffects, a *asked) (any, error) {
	form := explanationForm{VHost: a.vhost, Name: a.text("queue"), Kind: "queue", Candidates: []candidateForm{}, Settings: []settingForm{}}
	switch {
	case a.fields["queue"] != nil:
	case a.fields["exchange"] != nil:
		form.Name, form.Kind = a.text("exchange"), "exchange"
	default:
		return nil, rest.Complaint("[{key_missing,queue}]")
	}
	x, err := b.ExplainPolicies(ctx, a.vhost, form.Name, form.Kind == "exchange")
	if err != nil {
		return nil, err
	}
	form.Policy, form.OperatorPolicy = forms.OrNull(x.Effective.Policy), forms.OrNull(x.Effective.OperatorPolicy)
	form.Effective, form.Unmatched, form.Total = x.Effective.Definition, x.Unmatched, len(x.Candidates)+x.Others
	for _, c := range x.Candidates {
		p := c.Policy
		form.Candidates = append(form.Candidates, candidateForm{p.Name, p.Operator, p.Pattern, p.ApplyTo, p.Priority, p.Definition, c.Applies, c.Why})
	}
	for _, s := range x.Settings {
		form.Settings = append(form.Settings, settingForm{s.Key, s.Value, forms.OrNull(string(s.Source)), s.Argument, s.Policy, s.Operator, s.Note})
	}
	return form, nil
}
