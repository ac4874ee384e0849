// Package frames decodes the frames of a session.
//
// Owns: room for the performatives that come for each message, which is used again.
package frames
