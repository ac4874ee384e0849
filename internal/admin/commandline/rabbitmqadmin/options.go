package rabbitmqadmin

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"candlemark/internal/admin/httpapi/client"
)

// option is a row of the table of options.
type option struct {
	short, long, key string // key names it in the configuration file
	argument         string // "" for a switch
	about            string
}

var options = []option{
	{"h", "help", "help", "", "show this help message and exit"},
	{"c", "config", "config", "CONFIG", "configuration file [default: ~/.rabbitmqadmin.conf]"},
	{"N", "node", "node", "NODE", "section of the configuration file [default: default]"},
	{"H", "host", "hostname", "HOST", "connect to host HOST"},
	{"P", "port", "port", "PORT", "connect to port PORT"},
	{"", "path-prefix", "path_prefix", "PREFIX", "path prefix before /api"},
	{"V", "vhost", "vhost", "VHOST", "virtual host [default: all for list, '/' for declare]"},
	{"u", "username", "username", "USERNAME", "connect using username USERNAME"},
	{"p", "password", "password", "PASSWORD", "connect using password PASSWORD"},
	{"U", "base-uri", "base_uri", "URI", "connect to http://USERNAME:PASSWORD@HOST:PORT"},
	{"q", "quiet", "quiet", "", "suppress status messages"},
	{"s", "ssl", "ssl", "", "connect with TLS"},
	{"", "ssl-key-file", "ssl_key_file", "FILE", "PEM file with the key of the client's certificate"},
	{"", "ssl-cert-file", "ssl_cert_file", "FILE", "PEM file with the client's certificate"},
	{"", "ssl-ca-cert-file", "ssl_ca_cert_file", "FILE", "PEM file with trusted CA certificates"},
	{"", "ssl-disable-hostname-verification", "ssl_disable_hostname_verification", "", "accept a certificate for another host"},
	{"k", "ssl-insecure", "ssl_insecure", "", "accept any certificate"},
	{"t", "request-timeout", "request_timeout", "SECONDS", "timeout of requests in seconds [default: 120]"},
	{"f", "format", "format", "FORMAT", "format of lists: raw_json, pretty_json, tsv, long, table, kvp, bash [default: table]"},
	{"S", "sort", "sort", "COLUMN", "sort key for listing queries"},
	{"R", "sort-reverse", "sort_reverse", "", "reverse the sort order"},
	{"d", "depth", "depth", "DEPTH", "maximum depth of nested objects shown as columns [default: 1]"},
	{"", "bash-completion", "bash_completion", "", "print a bash completion script"},
	{"", "version", "version", "", "display version and exit"},
}

// settings have the values of options and of the file, by key. A switch that is set says True.
type settings map[string]string

func (s settings) is(key string) bool { return s[key] == "True" }

// parse takes options from any position, short ones with their argument or combined with others, and returns the rest.
func parse(args []string) (given settings, rest []string, err error) {
	given = settings{}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			return given, append(rest, args...), nil
		case strings.HasPrefix(word, "--"):
			name, value, attached := strings.Cut(word[2:], "=")
			args, err = given.take(func(o *option) bool { return o.long == name }, "--"+name, value, attached, args)
		case len(word) > 1 && word[0] == '-':
			for letters := word[1:]; letters != "" && err == nil; {
				letter := letters[:1]
				letters = letters[1:]
				is := func(o *option) bool { return o.short == letter }
				takes := slices.ContainsFunc(options, func(o option) bool { return is(&o) && o.argument != "" })
				if takes {
					args, err = given.take(is, "-"+letter, letters, letters != "", args)
					break
				}
				args, err = given.take(is, "-"+letter, "", false, args)
			}
		default:
			rest = append(rest, word)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return given, rest, nil
}

// take notes one option, with the attached argument or the next word, and returns the remaining words.
func (s settings) take(is func(*option) bool, name, value string, attached bool, args []string) ([]string, error) {
	i := slices.IndexFunc(options, func(o option) bool { return is(&o) })
	switch {
	case i < 0:
		return nil, usage("no such option: " + name)
	case options[i].argument == "" && attached:
		return nil, usage(name + " option does not take a value")
	case options[i].argument == "":
		value = "True"
	case !attached && len(args) == 0:
		return nil, usage(name + " option requires 1 argument")
	case !attached:
		value, args = args[0], args[1:]
	}
	s[options[i].key] = value
	return args, nil
}

// complete adds the values of the configuration file, and then the defaults. An address takes precedence over its
// parts.
func (s settings) complete(getenv func(string) string) (warning string, err error) {
	file := s["config"]
	if file == "" {
		if home := getenv("HOME"); home != "" {
			file = filepath.Join(home, ".rabbitmqadmin.conf")
		}
	}
	section, named := s["node"]
	if !named {
		section = "default"
	}
	inFile, err := sectionOf(file, section)
	switch {
	case errors.Is(err, os.ErrNotExist) && s["config"] == "":
	case err != nil:
		return "", usage(fmt.Sprintf("Could not read config file '%s': %s", file, err))
	case inFile == nil && section != "default":
		return "", usage(fmt.Sprintf("Could not read section '%s' in config file '%s'", section, file))
	}
	if strings.EqualFold(inFile["verbose"], "false") {
		s.add(settings{"quiet": "True"})
	}
	s.add(inFile)
	if address := s["base_uri"]; address != "" {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return "", usage("the base URI is not of the form http://user:password@host:port")
		}
		s.from(u)
		if strings.Trim(u.Path, "/") != "" {
			warning = "WARNING: path in --base-uri is ignored. Please specify --vhost and/or --path-prefix separately.\n"
		}
	}
	// In a container the user is the first user of its broker. A password for this host is not sent to others.
	if u, err := url.Parse(client.AddressFrom(getenv)); err == nil && slices.Contains([]string{"", "localhost", "127.0.0.1", "::1", u.Hostname()}, s["hostname"]) {
		here := settings{}
		here.from(u)
		s.add(here)
	}
	s.add(settings{
		"hostname": "localhost", "port": "15672", "declare_vhost": "/", "username": "guest", "password": "guest",
		"request_timeout": "120", "format": "table", "depth": "1",
	})
	return warning, nil
}

// add takes over the values of unset options.
func (s settings) add(others settings) {
	for key, value := range others {
		if _, given := s[key]; !given {
			s[key] = value
		}
	}
}

// from takes over the parts of an address.
func (s settings) from(u *url.URL) {
	password, _ := u.User.Password()
	for key, value := range map[string]string{"hostname": u.Hostname(), "port": u.Port(), "username": u.User.Username(), "password": password} {
		if value != "" {
			s[key] = value
		}
	}
	if u.Scheme == "https" {
		s["ssl"] = "True"
	}
}

// sectionOf reads a section of a file, in the syntax of Python's configparser; nil if there is none of that name.
func sectionOf(file, name string) (found settings, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	inside := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			if inside = line == "["+name+"]"; inside && found == nil {
				found = settings{}
			}
		case inside:
			at := strings.IndexAny(line, "=:")
			if at < 0 {
				return nil, fmt.Errorf("no value: %s", line)
			}
			found[strings.ToLower(strings.TrimSpace(line[:at]))] = strings.TrimSpace(line[at+1:])
		}
	}
	return found, lines.Err()
}

// secure returns the configuration of TLS.
func (s settings) secure() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: s.is("ssl_insecure") || s.is("ssl_disable_hostname_verification")} //nolint:gosec // as asked for
	if file := s["ssl_cert_file"]; s["ssl_key_file"] != "" {
		pair, err := tls.LoadX509KeyPair(file, s["ssl_key_file"])
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if file := s["ssl_ca_cert_file"]; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("no certificates in " + file)
		}
	}
	if s.is("ssl_disable_hostname_verification") && !s.is("ssl_insecure") {
		c.VerifyConnection = func(state tls.ConnectionState) error { // all but the name
			between := x509.NewCertPool()
			for _, one := range state.PeerCertificates[1:] {
				between.AddCert(one)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: c.RootCAs, Intermediates: between})
			return err
		}
	}
	return c, nil
}
