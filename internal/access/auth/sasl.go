package auth

import (
	"bytes"
	"encoding/binary"

	"candlemark/protocol"
)

// Credentials reads name and password from a SASL response. Mechanisms: PLAIN (NUL name NUL password; an authorization
// identity before them is not accepted, as in RabbitMQ) and AMQPLAIN (a field table without its length, LOGIN and
// PASSWORD). Errors: *protocol.ConnectionError 502 for a malformed response, *LoginError for another mechanism.
func Credentials(mechanism string, response []byte) (name, password string, err error) {
	switch mechanism {
	case "PLAIN":
		return plain(response)
	case "AMQPLAIN":
		return amqplain(response)
	}
	return "", "", refuseLogin("mechanism %q is not known", mechanism)
}

func plain(response []byte) (name, password string, err error) {
	parts := bytes.Split(response, []byte{0})
	if len(parts) != 3 || len(parts[0]) != 0 {
		return "", "", protocol.ConnectionErrorf(protocol.SyntaxError, "response of mechanism PLAIN is invalid")
	}
	return string(parts[1]), string(parts[2]), nil
}

func amqplain(response []byte) (name, password string, err error) {
	encoded := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(response)), uint32(len(response)))
	table, err := protocol.DecodeTable(append(encoded, response...))
	if err != nil {
		return "", "", protocol.ConnectionErrorf(protocol.SyntaxError, "response of mechanism AMQPLAIN is invalid")
	}
	login, _ := table.Get("LOGIN")
	secret, _ := table.Get("PASSWORD")
	name, hasName := login.(string)
	password, hasPassword := secret.(string)
	if !hasName || !hasPassword {
		return "", "", protocol.ConnectionErrorf(protocol.SyntaxError,
			"AMQPLAIN auth info is missing LOGIN or PASSWORD field")
	}
	return name, password, nil
}
