// Package actorlib connects our addresses and mail with the actor library, protoactor. Only the shells of actors and
// the supervision import it; the cores of actors know addresses and mail, and neither this package nor the library.
//
// Owns: nothing.
//
// States and deadlines: none.
//
// A restart loses: nothing.
package actorlib
