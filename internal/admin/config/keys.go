package config

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"candlemark/internal/text/suggest"
)

// plain returns a key with the same values as the flag.
func plain(name string) []key { return []key{{name: name}} }

// matches reports whether the key matches the name in a line.
func (k key) matches(name string) bool { return fits(k.name, name) }

// fits reports whether a name fits a pattern: * stands for any segment, .** at the end for any number of them.
func fits(pattern, name string) bool {
	want, got := strings.Split(pattern, "."), segments(name)
	if last := len(want) - 1; want[last] == "**" {
		if len(got) < len(want) {
			return false
		}
		want, got = want[:last], got[:last]
	}
	if len(want) != len(got) {
		return false
	}
	for i, segment := range want {
		if segment != "*" && segment != got[i] {
			return false
		}
	}
	return true
}

// segments returns the segments of a name; a dot after a backslash does not separate them.
func segments(name string) []string {
	const hidden = "\x00"
	all := strings.Split(strings.ReplaceAll(name, `\.`, hidden), ".")
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], hidden, ".")
	}
	return all
}

// didYouMean returns the end of a refusal, "" if no name is similar to the word.
func didYouMean(word string, names []string) string {
	if name := suggest.Closest(word, names); name != "" {
		return fmt.Sprintf("; did you mean %q?", name)
	}
	return ""
}

// address reads a listener of rabbitmq.conf: a port alone means that port at all addresses.
func address(value, _, _ string) (string, error) {
	if _, err := strconv.ParseUint(value, 10, 16); err == nil {
		return ":" + value, nil
	}
	at := strings.LastIndexByte(value, ':')
	if at < 0 {
		return "", fmt.Errorf("%q is neither a port nor an address and a port, such as 127.0.0.1:5672", value)
	}
	if _, err := strconv.ParseUint(value[at+1:], 10, 16); err != nil {
		return "", fmt.Errorf("%q does not end with a port, 0 to 65535", value)
	}
	return net.JoinHostPort(strings.Trim(value[:at], "[]"), value[at+1:]), nil
}

// none empties a list.
func none(value, _, _ string) (string, error) {
	if value != "none" {
		return "", fmt.Errorf("%q is not supported: only none is", value)
	}
	return value, nil
}

// member reads whether the last segment of the key belongs to a list.
func member(value, last, _ string) (string, error) {
	in, err := strconv.ParseBool(value)
	if err != nil {
		return "", fmt.Errorf("%q is neither true nor false", value)
	}
	if !in {
		return "", nil
	}
	return last, nil
}

func port(value, _, before string) (string, error) {
	if _, err := strconv.ParseUint(value, 10, 16); err != nil {
		return "", fmt.Errorf("%q is not a port, 0 to 65535", value)
	}
	return ":" + value, nil // at all addresses, as in RabbitMQ, unless an address follows
}

// host reads an address; the port is kept, or is the usual one if there was no listener.
func host(usual string) func(string, string, string) (string, error) {
	return func(value, _, before string) (string, error) {
		if net.ParseIP(value) == nil {
			return "", fmt.Errorf("%q is not an IP address", value)
		}
		_, port, err := net.SplitHostPort(before)
		if err != nil {
			port = usual
		}
		return net.JoinHostPort(value, port), nil
	}
}

// milliseconds reads a number of ms, or a duration with a unit.
func milliseconds(value, _, _ string) (string, error) {
	if _, err := strconv.ParseUint(value, 10, 63); err == nil {
		return value + "ms", nil
	}
	if _, err := time.ParseDuration(value); err != nil {
		return "", fmt.Errorf("%q is neither a number of milliseconds nor a duration such as 10s", value)
	}
	return value, nil
}

func share(value, _, _ string) (string, error) {
	if f, err := strconv.ParseFloat(value, 64); err != nil || !(f >= 0 && f <= 1) {
		return "", fmt.Errorf("%q is not a share of the memory, 0 to 1", value)
	}
	return value, nil
}

// memRelative is the prefix of a multiple of the memory.
const memRelative = "mem_relative "

func multiple(value, _, _ string) (string, error) { return memRelative + value, nil }

func bytes(value, _, _ string) (string, error) {
	n, err := ParseSize(value)
	return strconv.FormatInt(n, 10), err
}

// orInfinity reads a limit where 0 means none.
func orInfinity(value, _, _ string) (string, error) {
	if value == "infinity" {
		return "0", nil
	}
	return value, nil
}

// orMax reads a limit; 0 means none in RabbitMQ, and the maximum here.
func orMax(limit uint) func(string, string, string) (string, error) {
	return func(value, _, _ string) (string, error) {
		if value == "0" {
			return strconv.FormatUint(uint64(limit), 10), nil
		}
		return value, nil
	}
}

// password reads a password in clear text.
func password(value, _, _ string) (string, error) {
	if strings.HasPrefix(value, "encrypted:") {
		return "", errors.New("encrypted values are not supported: set the password with CANDLEMARK_DEFAULT_PASS")
	}
	return value, nil
}

// level reads a level of the log.
func level(value, _, _ string) (string, error) { return Level(value) }

// verification reads whether certificates of clients are checked, tlsVersion a version of TLS.
var (
	verification = choice("verify_peer", "true", "verify_none", "false")
	tlsVersion   = choice("tlsv1.2", "1.2", "tlsv1.3", "1.3")
)

// queueType reads a type of queues, also by the name of RabbitMQ's module for it.
var queueType = choice("classic", "classic", "quorum", "quorum", "rabbit_classic_queue", "classic", "rabbit_quorum_queue", "quorum")

// choice reads one of several words; pairs has each word followed by the value of the flag.
func choice(pairs ...string) func(value, last, before string) (string, error) {
	var words []string
	for i := 0; i < len(pairs); i += 2 {
		words = append(words, pairs[i])
	}
	return func(value, _, _ string) (string, error) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == value {
				return pairs[i+1], nil
			}
		}
		return "", fmt.Errorf("%q is not one of %s%s", value, strings.Join(words, ", "), didYouMean(value, words))
	}
}
