// Package names implements a persistent map from names to values, ordered by the bytes of the names. A change returns a
// new map and leaves the old one intact, so that goroutines may read while one makes changes.
//
// It is a B-tree (tidwall/btree) that copies the nodes touched by a change, one on each level: 100,000 names take some
// 40 bytes each, besides the names themselves.
//
// Owns nothing but its nodes; takes no mail, has no states and no deadlines. Nothing survives a restart.
package names
