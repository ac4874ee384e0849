// Package archive carries the files of a replica to another node.
//
// Owns: the form of the files on their way:
//
//	| length of the name 2 | name | size 8 | bytes | sum 4 |
//
// for each file, and a name of no bytes at the end. Numbers are big endian.
package archive
