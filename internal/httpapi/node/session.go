package node

import (
	"candlemark/internal/httpapi/forms"
	"candlemark/internal/httpapi/rest"
)

// sessionItem is the form of who is logged in.
type sessionItem struct {
	Name    *string  `json:"name"` // null for nobody
	Tags    []string `json:"tags"`
	Expires *string  `json:"expires_at"` // null for none that does
}

func sessionForm(s rest.Session, err error) (any, error) {
	return sessionItem{forms.OrNull(s.User.Name), append([]string{}, s.User.Tags...), forms.Optional(s.Ends)}, err
}

// beginSession logs in who sends a name and a password in a form.
func beginSession(r *rest.Request) (any, error) { return sessionForm(r.BeginSession()) }

// shownSession tells who asks, also whoever has not logged in: pages begin by that.
func shownSession(r *rest.Request) (any, error) { return sessionForm(r.ShownSession()) }

// endSession logs out.
func endSession(r *rest.Request) (any, error) { return nil, r.EndSession() }
