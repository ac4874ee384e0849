// Package first makes the first node of a cluster of the data folder of a broker alone (CLU-27).
//
// Owns: the order of its steps, so that a crash leaves a folder that is either the one or the other, or is finished by the next start.
package first
