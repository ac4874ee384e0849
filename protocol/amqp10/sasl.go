package amqp10

import (
	"bytes"
	"unicode/utf8"
)

// SASLMechanisms are those that the server offers, one at least [AMQP 1.0 security 5.3.3.1].
type SASLMechanisms struct{ ServerMechanisms []Symbol }

func (p *SASLMechanisms) fields(f *fields) { required(f, &p.ServerMechanisms) }

// SASLInit is the client's choice.
type SASLInit struct {
	Mechanism       Symbol
	InitialResponse []byte // aliases the frame; nil when absent
	Hostname        string // "" when absent
}

func (p *SASLInit) fields(f *fields) {
	required(f, &p.Mechanism)
	nullable(f, &p.InitialResponse)
	defaulted(f, &p.Hostname, "")
}

// SASLChallenge is a question of the mechanism.
type SASLChallenge struct{ Challenge []byte }

func (p *SASLChallenge) fields(f *fields) { required(f, &p.Challenge) }

// SASLResponse is its answer.
type SASLResponse struct{ Response []byte }

func (p *SASLResponse) fields(f *fields) { required(f, &p.Response) }

// Results of SASL.
const (
	SASLOK                 uint8 = 0
	SASLAuthFailed         uint8 = 1
	SASLSystemError        uint8 = 2
	SASLSystemErrorForever uint8 = 3
	SASLSystemErrorPassing uint8 = 4
)

// SASLOutcome is the end of SASL.
type SASLOutcome struct {
	Result         uint8
	AdditionalData []byte
}

func (p *SASLOutcome) fields(f *fields) {
	required(f, &p.Result)
	nullable(f, &p.AdditionalData)
	f.atMost(p.Result, SASLSystemErrorPassing)
}

// maxIdentity is the longest name, password or trace in bytes.
const maxIdentity = 255

// ParsePlain reads a response of the mechanism PLAIN: whom to act as ("" for the user itself), user and password, which alias it. ok is
// false if there are not three parts, or one is longer than 255 bytes or not UTF-8, or there is no user.
//
//	│ identity │ 0 │ user │ 0 │ password │
func ParsePlain(response []byte) (identity, user, password []byte, ok bool) {
	identity, rest, _ := bytes.Cut(response, []byte{0})
	user, password, ok = bytes.Cut(rest, []byte{0})
	if !ok || len(user) == 0 || !identifies(identity) || !identifies(user) || !identifies(password) {
		return nil, nil, nil, false
	}
	return identity, user, password, true
}

// ParseAnonymous checks a response of the mechanism ANONYMOUS: a trace, which names nobody for certain and may have any characters.
func ParseAnonymous(response []byte) (trace []byte, ok bool) {
	return response, len(response) <= maxIdentity && utf8.Valid(response)
}

// ParseExternal checks a response of the mechanism EXTERNAL: the user to act as, "" for the user in the certificate.
func ParseExternal(response []byte) (identity []byte, ok bool) { return response, identifies(response) }

// identifies reports whether b can be a name or password.
func identifies(b []byte) bool {
	return len(b) <= maxIdentity && utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
}
