// Package integration drives the real binary over TCP, with third-party clients and with clients that break the rules.
//
// Owns: a build of cmd/candlemark per run of the tests, and a broker per test,
// which must stop with exit code 0 on SIGTERM and have logged no panic.
//
// Deadlines: patience for everything that must happen. Nothing here sleeps to
// wait, and nothing asserts speed.
//
// Clients in other languages are skipped if they are not installed, with the name of their package (foreign_test.go);
// with CANDLEMARK_REQUIRE_CLIENTS=1 they fail.
package integration
