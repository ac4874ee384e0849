package node

import (
	"candlemark/internal/admin/httpapi/forms"
	"candlemark/internal/admin/httpapi/rest"
)

// sessionItem is the JSON form of a session.
type sessionItem struct {
	Name    *string  `json:"name"` // null without a login
	Tags    []string `json:"tags"`
	Expires *string  `json:"expires_at"` // null without expiry
}

func sessionForm(s rest.Session, err error) (any, error) {
	return sessionItem{forms.OrNull(s.User.Name), append([]string{}, s.User.Tags...), forms.Optional(s.Ends)}, err
}

// beginSession logs in with the name and password in a form.
func beginSession(r *rest.Request) (any, error) { return sessionForm(r.BeginSession()) }

// shownSession returns the user of a request, if any: pages start with it.
func shownSession(r *rest.Request) (any, error) { return sessionForm(r.ShownSession()) }

// endSession logs out.
func endSession(r *rest.Request) (any, error) { return nil, r.EndSession() }
