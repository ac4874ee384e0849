package config

import (
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want func(Config) bool
		fail bool
	}{
		"defaults": {want: func(c Config) bool {
			return slices.Equal(c.AMQP, []string{"127.0.0.1:5672", "[::1]:5672"}) && c.HTTP == "127.0.0.1:15672" && c.Metrics == ""
		}},
		"repeated": {args: []string{"--amqp", "127.0.0.1:0", "--amqp", "[::1]:0"}, want: func(c Config) bool {
			return slices.Equal(c.AMQP, []string{"127.0.0.1:0", "[::1]:0"})
		}},
		"environment": {env: map[string]string{"CANDLEMARK_AMQP": "127.0.0.1:1,127.0.0.1:2", "CANDLEMARK_DATA_DIR": "d"}, want: func(c Config) bool {
			return slices.Equal(c.AMQP, []string{"127.0.0.1:1", "127.0.0.1:2"}) && c.DataDir == "d"
		}},
		"flag wins": {args: []string{"--amqp", "127.0.0.1:3"}, env: map[string]string{"CANDLEMARK_AMQP": "127.0.0.1:1"}, want: func(c Config) bool {
			return slices.Equal(c.AMQP, []string{"127.0.0.1:3"})
		}},
		"send timeout": {args: []string{"--send-timeout", "0"}, want: func(c Config) bool { return c.SendTimeout == 0 }},
		"handshake":    {args: []string{"--handshake-timeout", "250ms"}, want: func(c Config) bool { return c.Handshake == 250*time.Millisecond }},
		"tls": {
			args: []string{"--amqps", "127.0.0.1:5671", "--tls-cert", "c", "--tls-key", "k", "--tls-ca", "a", "--tls-verify-peer", "--tls-fail-if-no-peer-cert", "--tls-login-from", "common_name", "--tls-login-san-type", "email", "--tls-login-san-index", "1"},
			want: func(c Config) bool {
				return slices.Equal(c.AMQPS, []string{"127.0.0.1:5671"}) && reflect.DeepEqual(c.TLS, TLS{Certificate{"c", "k", "a", true, true, []string{"1.2", "1.3"}}, "common_name", "email", 1})
			},
		},
		"no tls": {want: func(c Config) bool {
			return c.AMQPS == nil && c.TLS.Cert == "" && c.HTTPS == "" && c.TLS.LoginFrom == "distinguished_name" && c.TLS.SANType == "dns"
		}},
		"tls from the environment": {
			env:  map[string]string{"CANDLEMARK_AMQPS": "127.0.0.1:1", "CANDLEMARK_TLS_CERT": "c", "CANDLEMARK_TLS_KEY": "k", "CANDLEMARK_TLS_VERIFY_PEER": "true", "CANDLEMARK_TLS_CA": "a"},
			want: func(c Config) bool { return c.TLS.Cert == "c" && c.TLS.VerifyPeer && len(c.AMQPS) == 1 },
		},
		"https with the certificate of AMQP": {args: []string{"--https", "127.0.0.1:0", "--tls-cert", "c", "--tls-key", "k"}, want: func(c Config) bool {
			return c.WebCertificate().Cert == "c"
		}},
		"https with its own": {
			args: []string{"--https", "127.0.0.1:0", "--tls-cert", "c", "--tls-key", "k", "--https-cert", "d", "--https-key", "l", "--https-versions", "1.3"},
			want: func(c Config) bool {
				w := c.WebCertificate()
				return w.Cert == "d" && w.Key == "l" && len(w.Versions) == 1
			},
		},
		"https without a certificate": {args: []string{"--https", "127.0.0.1:0"}, fail: true},
		"https without a port":        {args: []string{"--https", "127.0.0.1", "--tls-cert", "c", "--tls-key", "k"}, fail: true},
		"https in no version":         {args: []string{"--https-cert", "d", "--https-key", "l", "--https-versions", "1.1"}, fail: true},
		"metrics":                     {env: map[string]string{"CANDLEMARK_METRICS": "127.0.0.1:15692"}, want: func(c Config) bool { return c.Metrics == "127.0.0.1:15692" }},
		"metrics without a port":      {args: []string{"--metrics", "127.0.0.1"}, fail: true},
		"tls without a certificate":   {args: []string{"--amqps", "127.0.0.1:0"}, fail: true},
		"tls without roots":           {args: []string{"--tls-verify-peer"}, fail: true},
		"certificates not verified":   {args: []string{"--tls-fail-if-no-peer-cert"}, fail: true},
		"tls without a port":          {args: []string{"--amqps", "127.0.0.1", "--tls-cert", "c", "--tls-key", "k"}, fail: true},
		"login from somewhere":        {args: []string{"--tls-login-from", "email"}, fail: true},
		"login from no name":          {args: []string{"--tls-login-san-type", "x400"}, fail: true},
		"loopback users":              {want: func(c Config) bool { return slices.Equal(c.LoopbackUsers, []string{"guest"}) }},
		"other loopback users": {args: []string{"--loopback-users", "a,b"}, want: func(c Config) bool {
			return slices.Equal(c.LoopbackUsers, []string{"a", "b"})
		}},
		"no loopback users": {args: []string{"--loopback-users", "none"}, want: func(c Config) bool { return len(c.LoopbackUsers) == 0 }},
		"limits": {args: []string{"--memory-high-watermark", "2GiB"}, env: map[string]string{"CANDLEMARK_DISK_FREE_LIMIT": "mem_relative 1.5"}, want: func(c Config) bool {
			return c.MemoryWatermark == Amount{Bytes: 2 << 30} && c.DiskFreeLimit == Share(1.5)
		}},
		"default limits": {want: func(c Config) bool {
			return c.MemoryWatermark == Share(0.4) && c.DiskFreeLimit == Amount{Bytes: 50_000_000}
		}},
		"watermark above all": {args: []string{"--memory-high-watermark", "1.1"}, fail: true},
		"bad send timeout":    {args: []string{"--send-timeout", "-1s"}, fail: true},
		"product":             {want: func(c Config) bool { return c.ProductName == "Candlemark" }},
		"product from flag":   {args: []string{"--product-name", "RabbitMQ"}, want: func(c Config) bool { return c.ProductName == "RabbitMQ" }},
		"product from there":  {env: map[string]string{"CANDLEMARK_PRODUCT_NAME": "RabbitMQ"}, want: func(c Config) bool { return c.ProductName == "RabbitMQ" }},
		"no product":          {args: []string{"--product-name", ""}, fail: true},
		"no handshake":        {args: []string{"--handshake-timeout", "0s"}, fail: true},
		"no port":             {args: []string{"--amqp", "127.0.0.1"}, fail: true},
		"format":              {args: []string{"--log-format", "xml"}, fail: true},
		"extra argument":      {args: []string{"now"}, fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			flags := flag.NewFlagSet("serve", flag.ContinueOnError)
			got, err := Load(flags, c.args, environ(c.env))
			if c.fail {
				if err == nil {
					t.Fatal("no error")
				}
				return
			}
			if err != nil || !c.want(got.Config) {
				t.Fatalf("%+v %v", got, err)
			}
		})
	}
}

// An address without a port, or with an impossible one, is refused with the form that is right.
func TestAddress(t *testing.T) {
	for _, address := range []string{"7672", "127.0.0.1", "::1:5672", "127.0.0.1:65536", ":-1"} {
		_, err := Load(flag.NewFlagSet("", flag.ContinueOnError), []string{"--amqp", address}, nil)
		if err == nil || !strings.Contains(err.Error(), "is not of the form address:port, such as 127.0.0.1:5672, or :5672 for all addresses") {
			t.Error(address, err)
		}
	}
}
