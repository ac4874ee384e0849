package rabbitmqadmin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
)

func (s *session) read(k *kind, args []string) (body map[string]any, path []string, err error) {
	vhost := s.settings["vhost"]
	if vhost == "" {
		vhost = s.settings["declare_vhost"]
	}
	return k.read(args, vhost)
}

func (s *session) publish(ctx context.Context, args []string) error {
	body, path, err := s.read(&publish, args)
	if err != nil {
		return err
	}
	if body["payload"] == nil {
		payload, err := io.ReadAll(s.Stdin)
		if err != nil {
			return failure(err.Error())
		}
		body["payload"], body["payload_encoding"] = base64.StdEncoding.EncodeToString(payload), "base64"
	}
	answer, err := s.send(ctx, http.MethodPost, body, nil, path...)
	if err != nil {
		return err
	}
	var reply struct{ Routed bool }
	switch err := json.Unmarshal(answer, &reply); {
	case err != nil:
		return failure("unexpected answer: " + err.Error())
	case reply.Routed:
		s.say("Message published")
	default:
		s.say("Message published but NOT routed")
	}
	return nil
}

func (s *session) get(ctx context.Context, args []string) error {
	body, path, err := s.read(&get, args)
	if err != nil {
		return err
	}
	file, _ := body["payload_file"].(string)
	if file != "" && body["count"] != "1" {
		return usage("Cannot get multiple messages using payload_file")
	}
	answer, err := s.send(ctx, http.MethodPost, body, nil, path...)
	if err != nil || file == "" {
		if err == nil {
			err = s.show(answer, nil, nil)
		}
		return err
	}
	var got []struct {
		Payload  string
		Encoding string `json:"payload_encoding"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return failure("unexpected answer: " + err.Error())
	}
	if len(got) > 0 {
		payload := []byte(got[0].Payload)
		if got[0].Encoding == "base64" {
			if payload, err = base64.StdEncoding.DecodeString(got[0].Payload); err != nil {
				return failure(err.Error())
			}
		}
		if err := os.WriteFile(file, payload, 0o600); err != nil {
			return failure(err.Error())
		}
	}
	return s.show(answer, strings.Fields("routing_key exchange message_count payload_bytes redelivered"), nil)
}

// definitions returns the path of all definitions, or of the definitions of the named virtual host.
func (s *session) definitions() []string {
	if s.settings["vhost"] != "" {
		return []string{"definitions", s.settings["vhost"]}
	}
	return []string{"definitions"}
}

func (s *session) export(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usage("Exactly one argument required")
	}
	answer, err := s.send(ctx, http.MethodGet, nil, nil, s.definitions()...)
	if err != nil {
		return err
	}
	if err := os.WriteFile(args[0], answer, 0o600); err != nil { // there are hashes of passwords in it
		return failure(err.Error())
	}
	s.say("Exported definitions for %s to \"%s\"", s.settings["hostname"], args[0])
	return nil
}

func (s *session) load(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usage("Exactly one argument required")
	}
	text, err := os.ReadFile(args[0])
	switch {
	case err != nil:
		return failure(err.Error())
	case !json.Valid(text):
		return failure(args[0] + " is not JSON")
	}
	if _, err := s.send(ctx, http.MethodPost, json.RawMessage(text), nil, s.definitions()...); err != nil {
		return err
	}
	s.say("Uploaded definitions from \"%s\" to %s.", args[0], s.settings["hostname"])
	return nil
}
