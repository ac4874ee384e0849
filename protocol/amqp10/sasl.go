package amqp10

// SASLMechanisms has the mechanisms that the server offers, one at least [AMQP 1.0 security 5.3.3.1].
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
