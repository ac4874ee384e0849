package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files say where things are and how strict to be with clients.
type Files struct {
	// Cert holds the certificate and the certificates between it and the root, Key its private key, CA the roots that
	// clients' certificates are checked against; all in PEM. CA may be empty unless VerifyPeer is set.
	Cert, Key, CA string
	// VerifyPeer asks clients for a certificate and checks it; RequirePeer refuses clients without one.
	VerifyPeer, RequirePeer bool
	// Versions of TLS to speak: tls.VersionTLS12 and newer; empty for all of them.
	Versions []uint16
	// Failed is called when files have changed and cannot be used.
	Failed func(error)
}

// Source is a certificate that follows its files.
type Source struct {
	files Files
	mu    sync.Mutex // held to read the files
	now   atomic.Pointer[loaded]
}

// loaded holds what was read, and the state of the files then.
type loaded struct {
	config *tls.Config
	stamps [3]stamp
}

// stamp identifies a state of a file.
type stamp struct {
	changed time.Time
	size    int64
}

// Open reads the files.
func Open(files Files) (*Source, error) {
	s := &Source{files: files}
	if err := s.Reload(); err != nil {
		return nil, err
	}
	return s, nil
}

// Config is for a listener: every handshake uses the current files.
func (s *Source) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.current(), nil },
	}
}

// Client returns the configuration for a connection to a server that must have a certificate for its name, by the roots of CA; the own
// certificate is sent. The files are the current ones.
func (s *Source) Client(server string) *tls.Config {
	c := s.current()
	return &tls.Config{MinVersion: c.MinVersion, MaxVersion: c.MaxVersion, Certificates: c.Certificates, RootCAs: c.ClientCAs, ServerName: server}
}

// Reload reads the files again. On an error everything stays as it was.
func (s *Source) Reload() error { return Reload(s) }

// Reload reads the files of several sources again. On an error everything stays as it was, in all of them.
func Reload(sources ...*Source) error {
	read := make([]*loaded, len(sources))
	for i, s := range sources {
		s.mu.Lock()
		defer s.mu.Unlock()
		var err error
		if read[i], err = s.read(s.stamps()); err != nil {
			return err
		}
	}
	for i, s := range sources {
		s.now.Store(read[i])
	}
	return nil
}

// current returns the configuration for a handshake.
func (s *Source) current() *tls.Config {
	if stamps := s.stamps(); stamps != s.now.Load().stamps {
		s.mu.Lock()
		defer s.mu.Unlock()
		if before := s.now.Load(); stamps != before.stamps {
			read, err := s.read(stamps)
			if err != nil {
				read = &loaded{before.config, stamps} // reported once
				if s.files.Failed != nil {
					s.files.Failed(err)
				}
			}
			s.now.Store(read)
		}
	}
	return s.now.Load().config
}

// read makes a new configuration.
func (s *Source) read(stamps [3]stamp) (*loaded, error) {
	certificate, err := tls.LoadX509KeyPair(s.files.Cert, s.files.Key)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	if len(s.files.Versions) > 0 {
		c.MinVersion, c.MaxVersion = slices.Min(s.files.Versions), slices.Max(s.files.Versions)
	}
	switch {
	case s.files.VerifyPeer && s.files.RequirePeer:
		c.ClientAuth = tls.RequireAndVerifyClientCert
	case s.files.VerifyPeer:
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if s.files.CA != "" {
		roots, err := os.ReadFile(s.files.CA)
		if err != nil {
			return nil, fmt.Errorf("TLS roots: %w", err)
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(roots) {
			return nil, fmt.Errorf("TLS roots: %w", errors.New(s.files.CA+" holds no certificate"))
		}
	}
	return &loaded{c, stamps}, nil
}

// stamps returns the states of the files; the zero value for unreadable files.
func (s *Source) stamps() (all [3]stamp) {
	for i, name := range [...]string{s.files.Cert, s.files.Key, s.files.CA} {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil {
			all[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return all
}
