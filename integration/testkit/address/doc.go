// Package address has addresses for tests of the cores of actors, which do not deliver mail.
//
// Owns: nothing.
package address
