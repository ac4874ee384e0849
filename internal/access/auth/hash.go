package auth

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
)

// The hashing algorithms of passwords, under RabbitMQ's names.
const (
	SHA256 = "rabbit_password_hashing_sha256" // of new passwords
	SHA512 = "rabbit_password_hashing_sha512"
	MD5    = "rabbit_password_hashing_md5" // of brokers before 3.6
)

const saltSize = 4 // bytes

// hashes compute the digest of salt and password.
var hashes = map[string]func(salted []byte) []byte{
	SHA256: func(b []byte) []byte { d := sha256.Sum256(b); return d[:] },
	SHA512: func(b []byte) []byte { d := sha512.Sum512(b); return d[:] },
	MD5:    func(b []byte) []byte { d := md5.Sum(b); return d[:] },
}

// HashPassword makes the hash of a password with SHA256 and a new salt: four
// bytes of salt, then the digest of salt and password.
func HashPassword(password string) []byte {
	var salt [saltSize]byte
	_, _ = rand.Read(salt[:]) // never fails
	return append(salt[:], hashes[SHA256](append(salt[:], password...))...)
}

// Fits reports whether password is the account's. An account without a hash has no password.
func (a *Account) Fits(password string) bool {
	hash := hashes[a.Algorithm]
	if len(a.Hash) <= saltSize || hash == nil {
		return false
	}
	salted := append(append([]byte(nil), a.Hash[:saltSize]...), password...)
	return subtle.ConstantTimeCompare(hash(salted), a.Hash[saltSize:]) == 1
}
