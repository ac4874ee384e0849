// Package shovels is the section of the HTTP API about shovels, and about the links of federation, of which there are none.
package shovels
