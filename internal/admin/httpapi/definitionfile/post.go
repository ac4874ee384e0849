package definitionfile

import (
	"fmt"
	"strings"

	"candlemark/internal/admin/httpapi/definitionfile/document"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/measure/events"
	"candlemark/internal/storage/parameters"
)

// report is the JSON form of what an import has done, or would do.
type report struct {
	Imported bool                     `json:"imported"`
	Counts   map[document.Verdict]int `json:"counts"`
	Warnings []string                 `json:"warnings"`
	Items    []document.Item          `json:"items"`
}

// post imports definitions: ?dry_run=true only reports the effects, ?strict=true imports nothing if an item would be
// refused (DEF-5), ?pause_schedules=true pauses schedules that do not exist yet, ?report=true returns a report. Without a report, refused items are an error after all others have
// been imported.
func post(r *rest.Request) (any, error) {
	text, err := r.Document()
	if err != nil {
		return nil, err
	}
	plan, err := Judge(r.Context(), r.Broker, r.Users, text, r.VHost)
	if err != nil {
		return nil, err
	}
	wanted := func(what string) bool { return r.URL.Query().Get(what) == "true" }
	if wanted("pause_schedules") {
		pauseSchedules(r, plan)
	}
	dry := wanted("dry_run")
	done := !dry && !(wanted("strict") && len(plan.Refused()) > 0)
	if done {
		by := *events.OriginOf(r.Context())
		by.Interface = events.Import
		if err := Carry(events.WithOrigin(r.Context(), &by), r.Broker, r.Users, r.User, plan); err != nil {
			return nil, err
		}
	}
	if dry || wanted("report") {
		return report{done, plan.Counts(), append([]string{}, plan.Warnings...), plan.Items}, nil
	}
	return nil, Failure(plan)
}

// pauseSchedules makes the import pause the schedules that do not exist yet.
func pauseSchedules(r *rest.Request, plan *document.Plan) {
	type name struct{ vhost, name string }
	exists := map[name]bool{}
	for _, p := range r.Broker.Parameters("") {
		if p.Component == parameters.Schedule {
			exists[name{p.VHost, p.Name}] = true
		}
	}
	for i := range plan.Items {
		item := &plan.Items[i]
		p, is := item.Value.(parameters.Parameter)
		if !is || p.Component != parameters.Schedule || exists[name{p.VHost, p.Name}] {
			continue
		}
		p.Value = parameters.WithPause(p.Value)
		item.Value = p
		item.Note(document.Taken, "it is paused")
	}
}

// shown is how many refused items an error names.
const shown = 10

// Failure names what was refused; nil for nothing.
func Failure(p *document.Plan) error {
	refused := p.Refused()
	if len(refused) == 0 {
		return nil
	}
	var lines []string
	for i, item := range refused {
		if i == shown {
			lines = append(lines, fmt.Sprintf("and %d more", len(refused)-shown))
			break
		}
		where := ""
		if item.VHost != "" {
			where = " in virtual host '" + item.VHost + "'"
		}
		lines = append(lines, fmt.Sprintf("%s '%s'%s: %s", item.Section, item.Name, where, item.Notes[len(item.Notes)-1].Text))
	}
	return rest.Complaint(strings.Join(lines, "\n"))
}
