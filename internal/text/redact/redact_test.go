package redact

import "testing"

// Neither the login nor the settings of an address are shown, wherever it contains "@".
func TestAddress_ACC11(t *testing.T) {
	for address, want := range map[string]string{
		"amqp://u:p@far:1/v?password=s@ecret": "amqp://far:1/v",
		"amqp://far?password=s@ecret":         "amqp://far",
		"amqp://u:p@/v":                       "amqp:///v",
		"u:p@far":                             "far",
		"amqp://u:p/q@far/v":                  "amqp://far/v",
		"amqp://u:p?q@far/v":                  "amqp://u",
		"amqp://u:p#q@far/v":                  "amqp://far/v",
		"amqp://u:p@q@[::1]:2/v":              "amqp://[::1]:2/v",
		"amqp:///v?password=s@ecret":          "amqp://",
		"amqp://[::1]?password=s@ecret":       "amqp://[::1]",
		"sb://far/;SharedAccessKey=k":         "sb://far/",
	} {
		if got := Address(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func TestText_ACC11(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "no secret": "no secret", "vhost /: a@b": "vhost /: a@b", "orders:eu@prod": "orders:eu@prod", "x=1&key": "x=1&key", "key=5": "key=5", "a=": "a=", "=": "=", "password=": "password=",
		"dial amqp://u:p@far/v: refused":                  "dial amqp://***@far/v: refused",
		`{"a":"amqps://u:p@far?password=s","b":"x"}`:      `{"a":"amqps://***@far?***","b":"x"}`,
		`{"v":"{\"uri\":\"amqp://u:p@far\"}","b":"u:p@"}`: `{"v":"{\"uri\":\"amqp://***@far\"}","b":"u:p@"}`,
		"GET /api/x?a=1&password=s&b=2 failed":            "GET /api/x?a=1&password=***&b=2 failed",
		"/x?key=s&sig=t&sas=u&access_token=v&z=1":         "/x?key=***&sig=***&sas=***&access_token=***&z=1",
		"SharedAccessSignature sr=a&sig=b%3D&skn=n":       "SharedAccessSignature sr=a&sig=***&skn=n",
		"Endpoint=sb://h/;SharedAccessKey=k end":          "Endpoint=sb://h/?*** end",
		"{Name=a,Client-Secret=b} password=c":             "{Name=a,Client-Secret=***} password=***",
	} {
		if got := Text(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestJSON_ACC11(t *testing.T) {
	for value, want := range map[string]string{
		`1`: `1`, `"a"`: `"a"`, `{"n":12345678901234567890}`: `{"n":12345678901234567890}`,
		`{"src-uri":["amqp://u:p@h","u:p@h"],"src-queue":"q"}`: `{"src-queue":"q","src-uri":["amqp://***@h","***@h"]}`,
		`{"uri":"u:p/q?x"}`: `{"uri":"u:p/q?***"}`,
		`{"a":[{"password":"x"},{"Client_Secret":1},{"token":["x"]},{"sas":{"k":"v"}}]}`:     `{"a":[{"password":"***"},{"Client_Secret":"***"},{"token":"***"},{"sas":"***"}]}`,
		`{"password":"","password_changed":true,"secret":null,"routing_key":"k","pass":"x"}`: `{"pass":"***","password":"","password_changed":true,"routing_key":"k","secret":null}`,
		`{"SharedAccessKeyName":"n","hashing_algorithm":"a","private-key":"x"}`:              `{"SharedAccessKeyName":"n","hashing_algorithm":"a","private-key":"***"}`,
		`not amqp://u:p@h JSON`: `not amqp://***@h JSON`,
	} {
		if got := string(JSON([]byte(value))); got != want {
			t.Errorf("%s\n got %s\nwant %s", value, got, want)
		}
	}
}
