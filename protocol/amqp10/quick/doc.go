// Package quick reads the performatives that there are many of, transfers and dispositions, if their fields have the encodings that clients mostly
// choose, and appends transfers, in a third of the time that their lists of fields take. It knows nothing of what is wrong: all that it does not know is left to package amqp10.
package quick
