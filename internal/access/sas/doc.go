// Package sas verifies shared access signatures, the tokens by which clients of Azure Service Bus log in: a resource, the name of a key and an
// expiry, signed with that key.
//
//	SharedAccessSignature sr=RESOURCE&sig=SIGNATURE&se=EXPIRY&skn=KEYNAME
//
// Signed is HMAC-SHA256 over RESOURCE as it was sent, a line feed and EXPIRY, in seconds since 1970. It is pure, except
// that it makes random keys: the caller passes time and keys. A token has at most MaxToken bytes.
package sas
