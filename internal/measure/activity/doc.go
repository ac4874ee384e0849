// Package activity counts what is under way outside of the actors and will send them mail by itself: reads and writes of the journal, stored
// definitions, routes that are being computed, events that are being published. A move of a test clock waits for it (CLK-6).
//
// Owns: the number of works that have begun and not ended.
//
// Rule: a work ends after its mail was posted. So whoever sees no turn of an actor running or waiting, then no work, then again no turn and
// no new one, knows that nothing was under way at the moment in between.
package activity
