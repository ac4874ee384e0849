package parameters

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// URI says where a broker is and who logs in there.
type URI struct {
	// Host is "" for this broker; Port is 0 then.
	Host  string
	Port  int
	VHost string
	// User is "" for an address of this broker that names none. For others that name none it is guest, with its
	// well-known password, and NoLogin is true.
	User, Password       string
	HasPassword, NoLogin bool
	Heartbeat            time.Duration // 0 for what the other side wants
	Timeout              time.Duration // of connecting; 0 for the usual one
	TLS                  *TLS          // nil without
	// Mechanisms are the mechanisms to log in with, the best first: plain, amqplain, external. Empty for the usual ones.
	Mechanisms []string
}

// usualHeartbeat is the heartbeat interval of addresses without one.
const usualHeartbeat = 10 * time.Second

// TLS has the settings of an encrypted connection.
type TLS struct {
	CAFile, CertFile, KeyFile string // "" for none
	// Verify: the certificate must be valid, and for Name if there is one.
	Verify bool
	// Name of the host that the other side is asked for; "" to ask for none and to look at none.
	Name string
}

// Local reports whether it names no host, and therefore this broker. One with a host may lead to this broker, too
// (ACC-2).
func (u *URI) Local() bool { return u.Host == "" }

// String returns the address without user, password and settings.
func (u *URI) String() string {
	scheme := "amqp"
	if u.TLS != nil {
		scheme = "amqps"
	}
	text := scheme + "://"
	switch {
	case u.Local():
	case u.Port == u.usualPort():
		text += u.host()
	default:
		text += net.JoinHostPort(u.Host, strconv.Itoa(u.Port))
	}
	if u.VHost != "/" {
		text += "/" + url.PathEscape(u.VHost)
	}
	return text
}

func (u *URI) host() string {
	if strings.Contains(u.Host, ":") {
		return "[" + u.Host + "]"
	}
	return u.Host
}

func (u *URI) usualPort() int {
	if u.TLS != nil {
		return 5671
	}
	return 5672
}

// ParseURI reads an address: amqp or amqps, and the settings of RabbitMQ's client after the question mark. The errors
// name no password.
func ParseURI(address string) (*URI, error) {
	p, err := url.Parse(address)
	switch {
	case err != nil || p.Host == "" && !strings.Contains(address, "://") && strings.Contains(p.Path, "@"): // the end of a login
		return nil, errors.New("unable_to_parse_uri")
	case !slices.Contains([]string{"amqp", "amqps"}, strings.ToLower(p.Scheme)):
		return nil, fmt.Errorf("{unexpected_uri_scheme,%q}", p.Scheme)
	case p.Opaque != "" || strings.Contains(strings.TrimPrefix(p.EscapedPath(), "/"), "/"):
		name := strings.TrimPrefix(p.EscapedPath(), "/")
		if strings.Contains(name, "@") { // the end of a password with "/" in it
			name = "…"
		}
		return nil, fmt.Errorf("{invalid_vhost,%q}", name)
	}
	u := &URI{Host: p.Hostname(), VHost: "/"}
	if p.Path != "" {
		u.VHost = p.Path[1:]
	}
	if p.User != nil {
		u.User = p.User.Username()
		u.Password, u.HasPassword = p.User.Password()
	}
	u.NoLogin = u.User == "" && !u.HasPassword
	if strings.EqualFold(p.Scheme, "amqps") {
		u.TLS = &TLS{Verify: true, Name: u.Host}
	}
	if err := u.place(p.Port()); err != nil {
		return nil, err
	}
	return u, u.set(p.Query())
}

// place reads the port and the user, with their defaults.
func (u *URI) place(port string) (err error) {
	if u.Local() {
		if port != "" || u.TLS != nil {
			return errors.New("port_requires_host")
		}
		return nil
	}
	u.Port, u.Heartbeat = u.usualPort(), usualHeartbeat
	if port != "" {
		if u.Port, err = strconv.Atoi(port); err != nil || u.Port < 1 || u.Port > 65535 {
			return fmt.Errorf("{port_out_of_range,%s}", port)
		}
	}
	if u.NoLogin {
		u.User, u.Password, u.HasPassword = "guest", "guest", true
	}
	return nil
}

// unsettable are the fields of a connection that RabbitMQ's client has and that no setting may change.
var unsettable = []string{"username", "virtual_host", "host", "port", "ssl_options", "auth_mechanisms", "client_properties", "socket_options"}

// set reads the settings; unknown ones are ignored, as in RabbitMQ.
func (u *URI) set(q url.Values) error {
	for _, key := range unsettable {
		if q.Has(key) && !u.Local() {
			return fmt.Errorf("{invalid_amqp_params_parameter,%s}: {parameter_unconfigurable_in_query,%s}", key, key)
		}
	}
	numbers := map[string]time.Duration{}
	for _, key := range []string{"heartbeat", "connection_timeout", "channel_max", "frame_max"} {
		if !q.Has(key) {
			continue
		}
		n, err := strconv.ParseUint(q.Get(key), 10, 16+8)
		if err != nil {
			return fmt.Errorf("{invalid_amqp_params_parameter,%s,%q}", key, q.Get(key))
		}
		numbers[key] = time.Duration(n)
	}
	if s, given := numbers["heartbeat"]; given {
		u.Heartbeat = s * time.Second
	}
	u.Timeout = numbers["connection_timeout"] * time.Millisecond
	for _, name := range q["auth_mechanism"] {
		if !slices.Contains([]string{"plain", "amqplain", "external"}, name) {
			return fmt.Errorf("{unknown_mechanism,%q}", name)
		}
		u.Mechanisms = append(u.Mechanisms, name)
	}
	if u.TLS == nil {
		return nil
	}
	return u.TLS.set(q)
}

// set reads the settings of an encrypted connection.
func (t *TLS) set(q url.Values) error {
	t.CAFile, t.CertFile, t.KeyFile = q.Get("cacertfile"), q.Get("certfile"), q.Get("keyfile")
	switch depth, strict, match := q.Get("depth"), q.Get("fail_if_no_peer_cert"), q.Get("customize_hostname_check"); {
	case q.Has("password"):
		return errors.New("{invalid_ssl_parameter,password}: keys with a password are not supported")
	case (t.CertFile == "") != (t.KeyFile == ""):
		return errors.New("{invalid_ssl_parameter,certfile}: certfile and keyfile require each other")
	case depth != "" && !whole(depth):
		return fmt.Errorf("{invalid_ssl_parameter,depth,%q}", depth)
	case !slices.Contains([]string{"", "true", "false"}, strict):
		return fmt.Errorf("{invalid_ssl_parameter,fail_if_no_peer_cert,%q}", strict)
	case match != "" && match != "https": // which is how Go compares names
		return fmt.Errorf("{invalid_ssl_parameter,customize_hostname_check,%q}", match)
	}
	switch how := q.Get("verify"); how {
	case "", "verify_peer":
	case "verify_none":
		t.Verify = false
	default:
		return fmt.Errorf("{invalid_ssl_parameter,verify,%q}", how)
	}
	switch name := q.Get("server_name_indication"); name {
	case "":
	case "disable":
		t.Name = ""
	default:
		t.Name = name
	}
	return nil
}

// Config returns how an address wants a connection to be encrypted; read reads the files that it names.
func (t *TLS) Config(read func(name string) ([]byte, error)) (*tls.Config, error) {
	cfg := &tls.Config{
		ServerName: t.Name, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: !t.Verify, // as the address says
	}
	if t.Verify && cfg.ServerName == "" { // then Go would refuse every certificate: this is all of its check but the name
		cfg.InsecureSkipVerify, cfg.VerifyConnection = true, func(c tls.ConnectionState) error {
			between := x509.NewCertPool()
			for _, one := range c.PeerCertificates[1:] {
				between.AddCert(one)
			}
			_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: cfg.RootCAs, Intermediates: between})
			return err
		}
	}
	if t.CAFile != "" {
		text, err := read(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("cacertfile: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("cacertfile: no certificate in %s", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := read(t.CertFile)
		key, err2 := read(t.KeyFile)
		if err = errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("certfile: %w", err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("certfile: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

func whole(text string) bool {
	_, err := strconv.ParseUint(text, 10, 8)
	return err == nil
}
