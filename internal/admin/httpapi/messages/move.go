package messages

import (
	"bytes"
	"encoding/json"
	"strconv"

	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
)

// fastestMove is the maximum rate, in messages a second.
const fastestMove = 1_000_000

// moveItem is the form of a move.
type moveItem struct {
	ID      string           `json:"id,omitempty"`
	VHost   string           `json:"vhost"`
	Queue   string           `json:"queue"`
	To      any              `json:"to"`
	User    string           `json:"user"`
	DryRun  bool             `json:"dry_run"`
	State   string           `json:"state"`
	Reason  string           `json:"reason,omitempty"`
	Moved   int64            `json:"moved"`
	Targets map[string]int64 `json:"targets"`
	Left    int64            `json:"left"`
	Kept    map[string]int64 `json:"left_by_reason"`
	Rate    float64          `json:"rate,omitempty"`
	Started *string          `json:"started_at"`
	Ended   *string          `json:"ended_at"`
}

// target is the target of a move, unless that is "origin".
type target struct {
	Queue    *string `json:"queue,omitempty"`
	Exchange *string `json:"exchange,omitempty"`
	Key      *string `json:"routing_key,omitempty"`
}

func moveShown(m *management.MoveStatus) moveItem {
	i := moveItem{
		ID: m.ID, VHost: m.VHost, Queue: m.Queue, To: "origin", User: m.User, DryRun: m.How.DryRun, State: m.State, Reason: m.Reason, Moved: m.Moved,
		Targets: m.Targets, Kept: m.Kept, Rate: m.How.Rate, Started: forms.Optional(m.Started), Ended: forms.Optional(m.Ended),
	}
	for _, n := range m.Kept {
		i.Left += n
	}
	if i.Targets == nil {
		i.Targets = map[string]int64{}
	}
	if i.Kept == nil {
		i.Kept = map[string]int64{}
	}
	if !m.How.Origin {
		i.To = targetShown(&m.How)
	}
	return i
}

func targetShown(how *management.Move) (t target) {
	switch {
	case how.Queue != "":
		t.Queue = &how.Queue
	case how.HasKey:
		t.Exchange, t.Key = &how.Exchange, &how.Key
	default:
		t.Exchange = &how.Exchange
	}
	return t
}

// move begins a move, or returns the result of a dry run.
func move(r *rest.Request) (any, error) {
	b := r.JSON("to")
	if b.Err != nil {
		return nil, b.Err
	}
	how, err := moveOf(b.Fields)
	if err != nil {
		return nil, err
	}
	m, err := r.Broker.Move(r.Context(), management.Asker{User: r.User}, management.Place{VHost: r.VHost, Name: r.Name}, how)
	if err != nil {
		return nil, declinedMessage(err)
	}
	return moveShown(&m), nil
}

// moveOf reads the parameters of a move.
func moveOf(fields map[string]json.RawMessage) (how management.Move, err error) {
	if err := destination(fields["to"], &how); err != nil {
		return how, err
	}
	var ids []json.RawMessage
	if raw := fields["ids"]; raw != nil && string(raw) != "null" {
		if json.Unmarshal(raw, &ids) != nil || len(ids) == 0 || len(ids) > management.MaxMovedIDs {
			return how, rest.Complaintf("ids must be a list of 1 to %d message numbers", management.MaxMovedIDs)
		}
	}
	for _, raw := range ids {
		id, bad := strconv.ParseUint(string(bytes.Trim(raw, `"`)), 10, 64)
		if bad != nil || id == 0 {
			return how, rest.Complaintf("ids must be a list of numbers, 1 or more, not %s", raw)
		}
		how.IDs = append(how.IDs, id)
	}
	if raw := fields["rate"]; raw != nil && string(raw) != "null" {
		if json.Unmarshal(raw, &how.Rate) != nil || how.Rate <= 0 || how.Rate > fastestMove {
			return how, rest.Complaintf("rate must be a number of messages per second, above 0 and at most %d", fastestMove)
		}
	}
	if raw := fields["dry_run"]; raw != nil && json.Unmarshal(raw, &how.DryRun) != nil {
		return how, rest.Complaint("dry_run must be true or false")
	}
	return how, nil
}

// destination reads the target of a move.
func destination(raw json.RawMessage, how *management.Move) error {
	const wanted = "to must be the string origin, or an object with queue, or with exchange and optionally routing_key"
	var word string
	if json.Unmarshal(raw, &word) == nil {
		if how.Origin = word == "origin"; !how.Origin {
			return rest.Complaint(wanted)
		}
		return nil
	}
	var t target
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if d.Decode(&t) != nil || (t.Queue == nil) == (t.Exchange == nil) || t.Queue != nil && (*t.Queue == "" || t.Key != nil) {
		return rest.Complaint(wanted)
	}
	if t.Queue != nil {
		how.Queue = *t.Queue
		return nil
	}
	how.Exchange = rest.ExchangeNamed(*t.Exchange)
	if how.HasKey = t.Key != nil; how.HasKey {
		how.Key = *t.Key
	}
	return nil
}

// moves lists the moves that the user may see.
func moves(r *rest.Request) (any, error) {
	list := []moveItem{}
	for _, m := range r.Broker.ListMoves(management.Asker{User: r.User}) {
		list = append(list, moveShown(&m))
	}
	return list, nil
}

// oneMove returns one move.
func oneMove(r *rest.Request) (any, error) {
	for _, m := range r.Broker.ListMoves(management.Asker{User: r.User}) {
		if m.ID == r.Part("id") {
			return moveShown(&m), nil
		}
	}
	return nil, rest.ErrNotFound
}

// stopMove ends a move.
func stopMove(r *rest.Request) (any, error) {
	if !r.Broker.StopMove(r.Context(), management.Asker{User: r.User}, r.Part("id")) {
		return nil, rest.ErrNotFound
	}
	return nil, nil
}
