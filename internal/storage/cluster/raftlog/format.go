package raftlog

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

// A file, numbers little endian:
//
//	0     | magic 8 | file 8 | salt 8 | zeros | sum 4 at 508 |
//	4096  group, group, … each from the next page
//
// A group:
//
//	 0         4     8        16       20      24
//	| magic 4 | sum | number | length | count | entries, length bytes
//
// An entry:
//
//	 0     4       8       16     24     25        32
//	| sum | length | index | term | type | zeros 7 | data, length bytes
const (
	fileMagic  = "CmRaft01"
	groupMagic = 0x31476d43 // "CmG1"

	headerSize = 512
	pageSize   = 4096
	groupHead  = 24
	entryHead  = 32
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	little     = binary.LittleEndian
)

func roundUp(n int64) int64 { return (n + pageSize - 1) / pageSize * pageSize }

func encodeHeader(file, salt uint64) []byte {
	b := make([]byte, headerSize)
	copy(b, fileMagic)
	little.PutUint64(b[8:], file)
	little.PutUint64(b[16:], salt)
	little.PutUint32(b[headerSize-4:], crc32.Checksum(b[:headerSize-4], castagnoli))
	return b
}

func decodeHeader(b []byte) (file, salt uint64, ok bool) {
	ok = len(b) >= headerSize && string(b[:8]) == fileMagic &&
		little.Uint32(b[headerSize-4:]) == crc32.Checksum(b[:headerSize-4], castagnoli)
	if !ok {
		return 0, 0, false
	}
	return little.Uint64(b[8:]), little.Uint64(b[16:]), true
}

// seedOf returns the initial value of the sums of a file.
func seedOf(file, salt uint64) uint32 {
	return uint32(file)*0x9E3779B1 ^ uint32(file>>32) ^ uint32(salt) ^ uint32(salt>>32)
}

// sum returns the sum of bytes at an offset of a file.
func sum(seed uint32, at int64, b []byte) uint32 {
	return crc32.Update(seed, castagnoli, b) ^ uint32(at)*0x85EBCA6B
}

// appendGroup encodes a group for an offset.
func appendGroup(b []byte, seed uint32, at int64, number uint64, list []*raft.Log) []byte {
	from := len(b)
	b = append(b, make([]byte, groupHead)...)
	for _, l := range list {
		b = appendEntry(b, seed, at+int64(len(b)-from), l)
	}
	g := b[from:]
	little.PutUint32(g[0:], groupMagic)
	little.PutUint64(g[8:], number)
	little.PutUint32(g[16:], uint32(len(g)-groupHead))
	little.PutUint32(g[20:], uint32(len(list)))
	little.PutUint32(g[4:], sum(seed, at, g[8:groupHead]))
	return b
}

func appendEntry(b []byte, seed uint32, at int64, l *raft.Log) []byte {
	from := len(b)
	b = append(b, make([]byte, entryHead)...)
	b = append(b, l.Data...)
	e := b[from:]
	little.PutUint32(e[4:], uint32(len(l.Data)))
	little.PutUint64(e[8:], l.Index)
	little.PutUint64(e[16:], l.Term)
	e[24] = byte(l.Type)
	little.PutUint32(e[0:], sum(seed, at, e[4:]))
	return b
}

func groupSize(list []*raft.Log) int64 {
	n := int64(groupHead)
	for _, l := range list {
		n += entryHead + int64(len(l.Data))
	}
	return n
}

type group struct {
	number uint64
	length int64 // of the entries, bytes
	count  int
}

func decodeGroup(b []byte, seed uint32, at int64) (g group, ok bool) {
	if len(b) < groupHead || little.Uint32(b) != groupMagic || little.Uint32(b[4:]) != sum(seed, at, b[8:groupHead]) {
		return g, false
	}
	return group{little.Uint64(b[8:]), int64(little.Uint32(b[16:])), int(little.Uint32(b[20:]))}, true
}

// decodeEntry decodes the entry at the beginning of b, which lies at an offset. Its data are a part of b.
func decodeEntry(b []byte, seed uint32, at int64) (l raft.Log, size int64, ok bool) {
	if len(b) < entryHead {
		return l, 0, false
	}
	size = entryHead + int64(little.Uint32(b[4:]))
	if size > int64(len(b)) || little.Uint32(b) != sum(seed, at, b[4:size]) {
		return l, 0, false
	}
	l = raft.Log{Index: little.Uint64(b[8:]), Term: little.Uint64(b[16:]), Type: raft.LogType(b[24]), Data: b[entryHead:size:size]}
	return l, size, true
}
