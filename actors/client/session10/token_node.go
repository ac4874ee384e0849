package session10

import (
	"errors"
	"time"

	"candlemark/actors/client/session10/access"
	"candlemark/actors/system/mail"
	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
	"candlemark/internal/servicebus/dialect/servicebus"
)

// This part executes requests to $cbs: it checks tokens, and passes them to the connection.
//
// Owns: nothing; Node is what a request needs of its session.

// maxTokenRequest is the limit for requests to $cbs, in bytes.
const maxTokenRequest = 16 << 10

// tokenNode answers the requests to $cbs.
type tokenNode struct {
	Access *access.Access
	// Check checks a token and returns its user. It may block. Nil if there are no tokens.
	Check      func(text string) (auth.User, sas.Token, error)
	Connection mail.Address
	// Send and Ask belong to the session. Beside runs work on its own goroutine and calls done with the result.
	Send   func(to mail.Address, what any)
	Ask    func(done func(reply any, err error)) mail.Request
	Beside func(work func() (any, error), done func(reply any, err error))
}

// checkedToken is a valid token, and its user.
type checkedToken struct {
	user  auth.User
	token sas.Token
}

// Run executes an encoded request, and calls done with the encoded answer and its reply-to. After checking the token,
// the connection stores whose rights apply at its address. The error, an *amqp10.Error, is for an invalid request.
func (n *tokenNode) Run(request []byte, done func(replyTo string, answer []byte)) error {
	r, err := servicebus.Read(request)
	if err != nil {
		return err
	}
	answer := func(code int32, text string) { done(r.ReplyTo, r.TokenAnswer(nil, code, text)) }
	text, isText := r.Body.(string)
	if r.Operation != "put-token" || !isText || n.Check == nil {
		answer(400, "put-token requires a token")
		return nil
	}
	check := n.Check
	n.Beside(func() (any, error) {
		user, token, err := check(text)
		return &checkedToken{user, token}, err
	}, func(reply any, err error) {
		scope := r.Text("name")
		good, _ := reply.(*checkedToken)
		switch {
		case err != nil:
			answer(401, tokenRefusal(good, err))
		case !good.token.Covers(scope):
			answer(401, "the token is not for '"+scope+"'")
		case !n.Access.IsThere(scope): // clients accept no other answer in this case
			answer(404, "The messaging entity '"+scope+"' could not be found.")
		default:
			n.put(scope, good, answer)
		}
	})
	return nil
}

// tokenRefusal returns why a token is invalid, in Service Bus's words. A client without the key gets no details.
func tokenRefusal(t *checkedToken, err error) string {
	var login *auth.LoginError
	if t != nil && errors.As(err, &login) && login.Expired {
		return "ExpiredToken: The token is expired. Expiration time: '" + t.token.Expires.UTC().Format(time.DateTime) + "'."
	}
	return "InvalidSignature: The token has an invalid signature."
}

// put passes a token to the connection.
func (n *tokenNode) put(scope string, good *checkedToken, answer func(code int32, text string)) {
	put := &mail.PutToken{Scope: scope, User: good.user.Name, Tags: good.user.Tags}
	if !good.token.Expires.IsZero() {
		put.Ends = n.Access.Clock.Real().Deadline(good.token.Expires.UnixMilli())
	}
	put.Request = n.Ask(func(_ any, err error) {
		if err != nil {
			answer(403, err.Error())
			return
		}
		answer(202, "Accepted")
	})
	n.Send(n.Connection, put)
}
