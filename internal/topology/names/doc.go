// Package names has a persistent map: names to values, in the order of their bytes. A change makes another map and leaves the one before
// as it was, so that anybody may read while one changes it.
//
// It is a B-tree of the library's (tidwall/btree), which copies the nodes that a change touches, one of each level: 100,000 names take some
// 40 bytes each besides themselves.
//
// Owns nothing but its nodes; takes no mail, has no states and no deadlines. A restart loses it.
package names
