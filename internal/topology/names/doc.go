// Package names has a persistent map: names to values, in the order of their bytes. A change makes another map and leaves the one before
// as it was, so that anybody may read while one changes it.
//
// It is a tree of nodes with up to 32 names. A change copies one node of each level, so that 100,000 names take some 50 bytes each
// besides themselves, and a change 2.7 KB of garbage.
//
// Owns nothing but its nodes; takes no mail, has no states and no deadlines. A restart loses it.
package names
