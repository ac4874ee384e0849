package config

import (
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Amount is a number of bytes, or a share of the memory that the broker may use.
type Amount struct {
	Relative bool
	Share    float64 // if relative, at least 0
	Bytes    int64   // if not relative
}

// Share returns an Amount relative to the memory of the machine, or of the container.
func Share(of float64) Amount { return Amount{Relative: true, Share: of} }

// Of returns the amount in bytes, if that memory is total bytes.
func (a Amount) Of(total int64) int64 {
	if a.Relative {
		return int64(a.Share * float64(total))
	}
	return a.Bytes
}

// String returns the amount as an operator writes it.
func (a Amount) String() string {
	if a.Relative {
		return strconv.FormatFloat(a.Share, 'g', -1, 64)
	}
	return strconv.FormatInt(a.Bytes, 10)
}

// units are RabbitMQ's units by their names in lower case: with an i, or without a b, they are powers of 1024, else of
// 1000.
var units = map[string]int64{
	"": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
	"kb": 1e3, "mb": 1e6, "gb": 1e9,
}

// ParseSize reads a number of bytes, whole and with one of RabbitMQ's units or
// none: 50000000, 50MB, 2GiB, 512k.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "kKiIbBmMgG")
	unit, known := units[strings.ToLower(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size such as 50MB", text)
	}
	return n * unit, nil
}

// ParseWatermark reads a watermark of memory: a share of it from 0 to 1, or a
// size.
func ParseWatermark(text string) (Amount, error) {
	if f, err := strconv.ParseFloat(text, 64); err == nil && f >= 0 && f <= 1 {
		return Share(f), nil
	}
	n, err := ParseSize(text)
	if err != nil {
		return Amount{}, fmt.Errorf("%q is neither a share of the memory from 0 to 1 nor a size such as 2GB", text)
	}
	return Amount{Bytes: n}, nil
}

// ParseDiskLimit reads the limit of free disk space: a size, or "mem_relative" and a multiple of the memory, at least
// 0.
func ParseDiskLimit(text string) (Amount, error) {
	if multiple, relative := strings.CutPrefix(text, "mem_relative"); relative {
		f, err := strconv.ParseFloat(strings.TrimLeft(multiple, " :="), 64)
		if err != nil || !(f >= 0) || math.IsInf(f, 0) {
			return Amount{}, fmt.Errorf("%q is not a multiple of the memory such as mem_relative 1.5", text)
		}
		return Share(f), nil
	}
	n, err := ParseSize(text)
	return Amount{Bytes: n}, err
}

// amount is a flag.
type amount struct {
	value    *Amount
	parse    func(string) (Amount, error)
	relative string // prefix of a share
}

// String implements flag.Value.
func (a amount) String() string {
	if a.value == nil {
		return ""
	}
	if a.value.Relative {
		return a.relative + a.value.String()
	}
	return a.value.String()
}

// Set implements flag.Value.
func (a amount) Set(text string) (err error) {
	v, err := a.parse(text)
	if err == nil {
		*a.value = v
	}
	return err
}

func size(of func(*Config) *Amount, parse func(string) (Amount, error), relative string) define {
	return func(f *flag.FlagSet, c *Config, name, help string) { f.Var(amount{of(c), parse, relative}, name, help) }
}
