// Package plainjson writes JSON as encoding/json does, but leaves <, > and & as they are: encoding/json escapes
// them for pages in HTML, which nothing here is.
package plainjson
