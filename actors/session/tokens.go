package session

import (
	"maps"
	"slices"

	"candlemark/actors/mail"
	"candlemark/actors/session/access"
	"candlemark/internal/auth"
	"candlemark/internal/dialect"
	"candlemark/internal/dialect/servicebus"
	"candlemark/internal/servicebus/sas"
)

// largestToken is the largest request to $cbs in bytes.
const largestToken = 16 << 10

// checkedToken is a token that is good, and whose.
type checkedToken struct {
	user  auth.User
	token sas.Token
}

// takeToken runs a request to $cbs. The token is checked, which may take its time; then the connection keeps whose rights count at the address that it was
// put for.
func takeToken(s *state, request []byte, done func(replyTo string, answer []byte)) error {
	r, err := servicebus.Read(request)
	if err != nil {
		return err
	}
	answer := func(code int32, text string) { done(r.ReplyTo, r.TokenAnswer(nil, code, text)) }
	text, isText := r.Body.(string)
	if r.Operation != "put-token" || !isText || s.cfg.Token == nil {
		answer(400, "a put-token with a token is wanted")
		return nil
	}
	id := s.request(func(reply any, err error) {
		scope := r.Text("name")
		good, _ := reply.(*checkedToken)
		switch {
		case err != nil:
			answer(401, "the token is not good")
		case !good.token.Covers(scope):
			answer(401, "the token is not for '"+scope+"'")
		case !access.IsThere(s.cfg.VHost, scope): // clients take no other answer for it
			answer(404, "the entity of '"+scope+"' is not there")
		default:
			putToken(s, scope, good, answer)
		}
	}).ID
	s.await.patient = true
	self, check, post := s.self, s.cfg.Token, s.cfg.Post
	s.jobs = append(s.jobs, func() {
		user, token, err := check(text)
		post(self, &result{id: id, reply: &checkedToken{user, token}, err: err})
	})
	return nil
}

// putToken has the connection keep a token.
func putToken(s *state, scope string, good *checkedToken, answer func(code int32, text string)) {
	put := &mail.PutToken{Scope: scope, User: good.user.Name, Tags: good.user.Tags}
	if !good.token.Expires.IsZero() {
		put.Ends = good.token.Expires.UnixMilli() - s.cfg.Clock.Skew()
	}
	put.Request = s.request(func(_ any, err error) {
		if err != nil {
			answer(403, err.Error())
			return
		}
		answer(202, "Accepted")
	})
	s.Send(s.cfg.Connection, put)
}

// recheckLinks detaches links to entities whose token has ended, or has not the rights that they need. A consumer that has to be cancelled makes the
// others wait.
func recheckLinks(s *state) {
	s.recheck = false
	for _, handle := range slices.Sorted(maps.Keys(s.links)) {
		l := s.links[handle]
		err := refusedNow(s, l)
		switch {
		case err == nil:
		case l.consumer == nil:
			if l.answers != nil {
				s.withdraw(l)
			}
			s.failLink(l, dialect.ErrorOf(err))
		case !l.consumer.leaving:
			s.cancel(l, func() { s.failLink(l, err) })
			s.recheck = true
			return
		}
	}
}

// refusedNow is why a link would be refused if it were attached now, as far as tokens are concerned.
func refusedNow(s *state, l *link) error {
	if l.closing || l.opening != nil || !servicebus.Is(l.address) || l.address == servicebus.TokenNode {
		return nil
	}
	may, err := s.access.At(l.address)
	switch {
	case err != nil || !may.ByKey:
		return err
	case l.consumer != nil:
		_, err = may.Readable(l.consumer.name)
	case l.publisher != nil && l.publisher.node == nil:
		_, _, err = may.MaySend(l.publisher.Name())
	}
	return err
}
