// Package config holds what an operator can set, its defaults, and one check of
// it all.
//
// Owns: Config. Every setting is a flag of `candlemark serve` and an environment
// variable with the same name in capitals behind CANDLEMARK_; the flag wins.
//
// States, deadlines: none. A restart loses nothing: it reads both again.
package config
