// Package certificate loads the broker's TLS certificate, and the roots for client certificates, from files and reloads
// them when the files change.
//
// Owns: Source, which reads the files, makes the TLS configuration, and checks the times of the files at every
// handshake, so that a renewed certificate needs no notification. Unusable files are reported once, and the previous
// certificate stays.
//
// Deadlines: none. A restart loses nothing: it reads the files again.
package certificate
