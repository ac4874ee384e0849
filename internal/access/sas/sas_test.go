package sas

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Unix(1_700_000_000, 0)

// The signature was computed with openssl.
func TestVerifySignatureOfOthers(t *testing.T) {
	token, err := Parse(Scheme + " sr=sb%3a%2f%2flocalhost%2forders&sig=p9qRwqXgI6JrGRQ%2F27P5EqDrX5%2fzlwZHWNjBS1m0giA%3d&se=1700000060&skn=Root")
	if err == nil {
		err = token.Verify(now, "secret")
	}
	if err != nil {
		t.Error(err)
	}
}

func TestVerify(t *testing.T) {
	text := New("sb://localhost/Orders", "Root", "secret+/=", now.Add(time.Minute))
	token, err := Parse(text)
	if err != nil || token.KeyName != "Root" || !token.Expires.Equal(now.Add(time.Minute)) {
		t.Fatal(token, err)
	}
	for _, test := range []struct {
		at   time.Time
		keys []string
		want error
	}{
		{now, []string{"secret+/=", "other"}, nil},
		{now, []string{"other", "secret+/="}, nil},
		{now.Add(time.Minute - 1), []string{"secret+/="}, nil},
		{now.Add(time.Minute), []string{"secret+/="}, ErrExpired},
		{now, []string{"other"}, ErrSignature},
		{now, []string{"", ""}, ErrSignature},
		{now, nil, ErrSignature},
	} {
		if err := token.Verify(test.at, test.keys...); !errors.Is(err, test.want) {
			t.Errorf("%v: %v", test, err)
		}
	}
	// The signature covers the bytes as sent, not their decoded form.
	other, err := Parse(strings.Replace(text, "%3A%2F%2F", "%3a%2f%2f", 1))
	if err != nil || !errors.Is(other.Verify(now, "secret+/="), ErrSignature) {
		t.Error("escapes of another case are taken", err)
	}
}

func TestParse(t *testing.T) {
	good := New("sb://h/q", "k", "s", now)
	for _, text := range []string{
		"", "Bearer x", Scheme, Scheme + " ", Scheme + "x" + good[len(Scheme):], good + "&sr=x", strings.Replace(good, "se=", "se=x", 1),
		strings.Replace(good, "&skn=k", "", 1), strings.Replace(good, "sig=", "sig=%", 1), strings.Replace(good, "sig=", "sig=!", 1),
		strings.Replace(good, "se=", "se=-", 1), good + strings.Repeat(" ", MaxToken),
	} {
		if _, err := Parse(text); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	if _, err := Parse(strings.Replace(good, "skn=k", "skn=k&more=1", 1)); err != nil {
		t.Error(err)
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		resource, entity string
		want             bool
	}{
		{"sb://host/", "sb://other:1/q", true},
		{"sb://host", "q", true},
		{"host.servicebus", "q", true},
		{"localhost:5672/q", "q", true},
		{"localhost:5672/q", "other", false},
		{"sb://host/q", "sb://host/Q/$management", true},
		{"http://host/Q/", "q", true},
		{"sb://host/q", "q2", false},
		{"sb://host/t/Subscriptions/s", "t", false},
		{"sb://host/t", "t/subscriptions/s/$DeadLetterQueue", true},
		{"https://host/q?api-version=2024-05", "q", true},
	} {
		token, err := Parse(New(test.resource, "k", "s", now))
		if err != nil || token.Covers(test.entity) != test.want {
			t.Errorf("%v: %v", test, err)
		}
	}
}

// TestUsers_SBT5: keys of entities precede keys of accounts, from the innermost entity outwards.
func TestUsers_SBT5(t *testing.T) {
	for resource, want := range map[string]string{
		"sb://host/": "k", "sb://host": "k", "sb://host/Q": "q/k k", "sb://host/t/Subscriptions/s": "t/subscriptions/s/k t/subscriptions/k t/k k",
		"sb://host/" + strings.Repeat("a/", maxOwnPath): "k",
	} {
		token, err := Parse(New(resource, "k", "s", now))
		if got := strings.Join(slices.Collect(token.Users()), " "); err != nil || got != want {
			t.Errorf("%.40s: %q, %v", resource, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(New("sb://h/q", "k", "s", now))
	f.Fuzz(func(t *testing.T, text string) {
		if token, err := Parse(text); err == nil && token.Verify(now, "s") == nil && !strings.Contains(text, "sig=") {
			t.Error("no signature")
		}
	})
}
