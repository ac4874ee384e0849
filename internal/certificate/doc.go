// Package certificate keeps the broker's TLS certificate, and what client certificates are checked against, as it
// stands in files.
//
// Owns: Source, which reads the files, makes the TLS configuration, and notices when the files change: it looks at
// their times with every handshake, so that a renewed certificate needs no notification. Files that cannot be used are
// reported once, and the certificate from before stays.
//
// Deadlines: none. A restart loses nothing: it reads the files again.
package certificate
