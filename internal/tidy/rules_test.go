package tidy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// wrong holds, for each rule, a file and the expected complaint; "" means that the file must be accepted.
var wrong = []struct{ rule, path, source, complaint string }{
	{"imports", "actors/queue/a.go", `package queue; import "candlemark/actors/names/vhost"`, "may not import actors/names/vhost"},
	{"imports", "actors/queue/a.go", `package queue; import "candlemark/actors/system/mail"`, ""},
	{"imports", "actors/queue/a.go", `package queue; import "candlemark/actors/queue/wheel"`, ""},
	{"imports", "actors/client/channel/a.go", `package channel; import "candlemark/actors/queue/wheel"`, "may not import"},
	{"imports", "actors/names/vhost/a.go", `package vhost; import "candlemark/integration/testkit"`, "is for tests"},
	{"imports", "actors/names/vhost/a_test.go", `package vhost; import "candlemark/integration/testkit"`, ""},
	{"imports", "actors/names/vhost/a_test.go", `package vhost; import "candlemark/actors/queue"`, "may not import actors/queue"},
	{"imports", "protocol/a.go", `package protocol; import "candlemark/internal/routing/message"`, "may not import"},
	{"imports", "internal/storage/store/segment/a.go", `package segment; import "candlemark/internal/storage/store/vfs"`, ""},
	{"imports", "internal/storage/store/segment/a.go", `package segment; import "candlemark/internal/admin/management"`, "may not import"},
	{"imports", "integration/a_test.go", `package integration; import "candlemark/actors/queue"`, ""},
	{"imports", "internal/attic/a.go", `package attic`, "in no district"},
	{"actor library", "actors/queue/a.go", `package queue; import "` + actorLibrary + `/actor"`, ""},
	{"actor library", "actors/queue/state.go", `package queue; import "` + actorLibrary + `/actor"`, "does not belong"},
	{"actor library", "actors/queue/wheel/a.go", `package wheel; import "` + actorLibrary + `/actor"`, "does not belong"},
	{"actor library", "actors/queue/state.go", `package queue; import "` + addressLibrary + `"`, "does not belong"},
	{"actor library", "actors/queue/abort.go", `package queue; import "` + addressLibrary + `"`, ""},
	{"actor library", "actors/names/vhost/queues.go", `package vhost; import "` + actorLibrary + `/actor"`, "does not belong"},
	{"actor library", "actors/names/vhost/vhost.go", `package vhost; import "` + actorLibrary + `/actor"`, ""},
	{"actor library", "internal/admin/httpapi/a.go", `package httpapi; import "` + actorLibrary + `/actor"`, "does not belong"},
	{"imports", "supervision/queries/a.go", `package queries; import "candlemark/supervision/ask"`, ""},
	{"imports", "actors/client/session10/a.go", `package session10; import "candlemark/actors/client/channel/tx"`, "may not import"},
	{"imports", "actors/client/connection/a.go", `package connection; import "candlemark/actors/client/lifecycle"`, ""},
	{"imports", "internal/admin/httpapi/node/a.go", `package node; import "candlemark/internal/admin/httpapi/rest"`, ""},
	{"imports", "internal/admin/httpapi/node/a.go", `package node; import "candlemark/internal/admin/httpapi/clients"`, "may not import"},
	{"imports", "internal/admin/httpapi/rest/a.go", `package rest; import "candlemark/internal/admin/httpapi/node"`, "may not import"},
	{"imports", "internal/admin/httpapi/a.go", `package httpapi; import "candlemark/internal/admin/httpapi/node"`, ""},
	{"imports", "cmd/candlemark/a.go", `package main; import "candlemark/supervision/resources"`, ""},
	{"actor library", "supervision/resources/a.go", `package resources; import "` + actorLibrary + `/actor"`, "does not belong"},
	{"actor library", "supervision/a.go", `package supervision; import "` + actorLibrary + `/remote"`, "package actor only"},
	{"top level", "pkg/a.go", `package pkg`, "pkg/: not one"},
	{"top level", "notes.md", ``, "notes.md: not one"},
	{"top level", ".ci/run", ``, ""},
	{"package names", "internal/util/a.go", `package util`, "drawer"},
	{"package names", "internal/storage/store/a.go", `package shop`, "holds package shop"},
	{"doc.go", "protocol/a.go", `package protocol`, "no doc.go"},
	{"doc.go", "protocol/doc.go", `package protocol`, "no package comment"},
	{"doc.go", "protocol/doc.go", "// Package protocol is.\npackage protocol\n" + strings.Repeat("\n", docLimit), "lines, at most"},
	{"doc.go", "protocol/a.go", "// Package protocol is.\npackage protocol", "belongs in doc.go"},
	{"decision records", "docs/adr/first.md", "", "NNNN-title.md"},
	{"decision records", "docs/adr/0001-star.md", strings.Repeat("\n", decisionLimit+1), "lines, at most"},
	{"links", "docs/a.md", "[a](a.md), [b](#b-c), [c](https://example.com/c)\n# B, *c*\n", ""},
	{"links", "docs/a.md", "[b](b.md)", "docs/a.md: the link b.md leads nowhere"},
	{"links", "docs/a.md", "[b](a.md#b)\n# C\n", "leads nowhere"},
	{"links", "docs/adr/0001-a.md", "[b](../b_test.go#TestB)", "leads nowhere"},
	{"clocks", "actors/queue/a.go", `package queue; func f(q *queue) { q.cfg.Clock.Now() }`, "Clock.Now stands 1 times in the file, 0 in"},
	{"clocks", "supervision/a.go", `package supervision; import "time"; var x = time.Now()`, "time.Now stands 1 times"},
	{"clocks", "supervision/a_test.go", `package supervision; import "time"; var x = time.Now()`, ""},
	{"clocks", "internal/tidy/testdata/clocks.txt", "broker 1 a.go Clock.Now\n", "is not used any more"},
	{"clocks", "internal/tidy/testdata/clocks.txt", "wall 1 a.go Clock.Now\n", "is not a kind"},
	{"file length", "protocol/a.go", "package protocol\n" + strings.Repeat("\n", fileLimit), "401 lines"},
	{"file length", "protocol/a_test.go", "package protocol\n" + strings.Repeat("\n", fileLimit), ""},
	{"file length", "protocol/a.go", "// Code generated by x. DO NOT EDIT.\npackage protocol\n" + strings.Repeat("\n", fileLimit), ""},
	{"function length", "protocol/a.go", "package protocol\nfunc f() {" + strings.Repeat("\n", functionLimit-1) + "}", ""},
	{"function length", "protocol/a.go", "package protocol\nfunc f() {" + strings.Repeat("\n", functionLimit) + "}", "f has 61 lines"},
	{"function length", "protocol/a_test.go", "package protocol\nfunc f() { _ = []int{" + strings.Repeat("\n1,", functionLimit) + "} }", ""},
	{"package size", "integration/compare/a.go", "package main" + strings.Repeat("\n", packageLimit+1), ""},
	{"package size", "protocol/a.go", "package protocol" + strings.Repeat("\n", packageLimit+1), "protocol: 4001 lines"},
	{"package size", "protocol/a_test.go", "package protocol" + strings.Repeat("\n", packageLimit+1), ""},
	{"objects", "protocol/a.go", "package protocol\ntype t[T any] struct{}\n" + strings.Repeat("func (t *t[int]) f() {}\n", objectLimit), ""},
	{"objects", "protocol/a.go", "package protocol\ntype t[T any] struct{}\n" + strings.Repeat("func (t *t[int]) f() {}\n", objectLimit+1), "protocol.t: 61 functions"},
	{"objects", "protocol/a.go", "package protocol\ntype t struct{}\n" + strings.Repeat("func (t) f() {}\nfunc f(_ int, t *t) {}\n", objectLimit), "protocol.t: 120 functions"},
	{"objects", "protocol/a.go", "package protocol\ntype (u struct{}; t struct{ *u })\n" + strings.Repeat("func (t) f() {}\nfunc f(u u) {}\n", objectLimit), "protocol.t: 120 functions"},
	{"objects", "protocol/a_test.go", "package protocol\ntype t int\n" + strings.Repeat("func (t) f() {}\n", objectLimit+1), ""},
	{"doc comments", "protocol/a.go", "package protocol\nfunc F() {}", "F is exported"},
	{"doc comments", "protocol/a.go", "package protocol\ntype t int\nfunc (t) F() {}\nfunc (t) String() string { return \"\" }", ""},
	{"doc comments", "protocol/a.go", "package protocol\n// T is.\ntype T int\nfunc (*T) F() {}", "F is exported"},
	{"doc comments", "protocol/a.go", "package protocol\n// T is.\ntype T int\ntype i interface{ F() }\nfunc (*T) F() {}", ""},
	{"doc comments", "protocol/a.go", "package protocol\ntype T int", "T is exported"},
	{"doc comments", "protocol/a.go", "package protocol\nconst C = 1", "C is exported"},
	{"doc comments", "protocol/a.go", "package protocol\nconst C = 1 // C is.", ""},
	{"retired words", "docs/a.md", "what the queue mourns", `"mourns"`},
	{"retired words", "protocol/a.go", "package protocol\nfunc adminDoor() {}", `"Door"`},
	{"retired words", "protocol/a.go", "package protocol // a burst is lent nothing: Lens, indoors, budget", `"lent"`},
	{"retired words", "protocol/a.go", "package protocol // a burst of letters, a silent one", ""},
	{"retired words", "protocol/a.go", "package protocol\nfunc lateTold() {}", `"Told"`},
	{"retired words", "protocol/a.go", "package protocol\nconst mostRanges = 5", `"mostRanges"`},
	{"retired words", "protocol/a.go", "package protocol\nconst maxRanges, atMostOnce = 5, 1", ""},
	{"equivalent mutations", ".ci/equivalent", "CONDITIONALS_BOUNDARY: if a < b {\n  They differ.\n", `"if a < b {"`},
	{"clauses", "docs/a.md", "# A\n\nIt is.\nWhat is left,\nexpires.", `docs/a.md:3: begin with the subject, not with ". What is left, expires."`},
	{"clauses", "docs/a.md", "- Who reads, waits.", `"- Who reads, waits."`},
	{"clauses", "docs/spec/a.md", "| a | Whoever asks |", `"| Whoever asks |"`},
	{"clauses", "README.md", "## What happens", `"## What happens"`},
	{"clauses", "docs/a.md", "## What renews the lease?\n\nWhat is it? Tell what it is.\n\n    What a command prints", ""},
	{"clauses", "docs/adr/0001-a.md", "What is left, expires.", `"What is left, expires."`},
	{"comments", "protocol/a.go", "package protocol\n\n// f reads. What is\n// left, stays.\nfunc f() {}", `protocol/a.go:3: begin with the subject, not with ". What is left, stays."`},
	{"comments", "cmd/a/a_test.go", "package main // Who reads, waits.", `"Who reads, waits."`},
	{"comments", "protocol/a.go", "package protocol // What is it? It says what it is.", ""},
	{"dangling words", "cmd/a/a.go", "package main\n\n" + strings.Repeat("// a\n", 122) + "// that\n// of b\n", "cmd: 1 in 124 lines"},
	{"dangling words", "cmd/a/a.go", "package main\n\n" + strings.Repeat("// a\n", 123) + "// that\n// of b\n", ""},
	{"dangling words", "protocol/a.go", "package protocol\n\n// Likewise.\n", `protocol/a.go:3: name the thing in place of "Likewise"`},
	{"leftover notes", "protocol/a.go", "package protocol // TODO more", "without the number"},
	{"leftover notes", "protocol/a.go", "package protocol // TODO(#12) more", ""},
	{"leftover notes", "protocol/a.go", "package protocol\nimport . \"fmt\"", "dot import"},
	{"sleep", "protocol/a_test.go", "package protocol\nfunc f() { time.Sleep(1) }", "synctest bubble"},
	{"sleep", "protocol/a_test.go", "package protocol\nimport _ \"testing/synctest\"\nfunc f() { time.Sleep(1) }", ""},
	{"sleep", "actors/queue/a.go", "package queue\nfunc f() { time.Sleep(1) }", "synctest bubble"},
	{"leak checks", "protocol/a.go", "package protocol\nfunc f() { go f() }", "goleak"},
	{"leak checks", "protocol/a_test.go", "package protocol\nfunc f() { go f() }", ""},
	{"sandboxes", "protocol/a_test.go", `package protocol; import "os/exec"`, "wants integration/testkit/sandbox"},
	{"sandboxes", "cmd/candlemark/a_test.go", `package main`, "wants integration/testkit/sandbox"},
	{"sandboxes", "cmd/candlemark/a_test.go", `package main; import "candlemark/integration/testkit/sandbox"`, ""},
	{"exits", "protocol/a.go", "package protocol\nfunc f() { os.Exit(1) }", "only package main"},
	{"exits", "cmd/candlemark/a.go", "package main\nfunc f() { os.Exit(1) }", ""},
	{"proofs", "docs/spec/a.md", "## TTL-1\n\nA TTL.\n\n- Source: ours\n", "TTL-1 has no test"},
	{"proofs", "docs/spec/a.md", "## TTL-1\n\n- Tests: [TestA](../../a_test.go#TestA)\n", "TTL-1 has no statement followed by a source"},
	{"proofs", "docs/spec/a.md", "## TTL-1\n\n- Source: ours\n", "TTL-1 has no statement followed by a source"},
	{"proofs", "docs/spec/a.md", "## TTL-1\n- Tests: [TestA](../../a_test.go#TestA)\n", "the test of TTL-1 is not there: ../../a_test.go#TestA"},
	{"proofs", "docs/spec/a.md", "## TTL-1\n## TTL-1\n", "TTL-1 is stated twice"},
	{"proofs", "docs/spec/a.md", "# TTL-1 and more\n\nAs TTL-1 says.\n", ""},
	{"citations", "protocol/a.go", "package protocol // TTL-1", "protocol/a.go:1: cites TTL-1, which"},
	{"citations", "docs/a.md", "as\nDL-2 says", "docs/a.md:2: cites DL-2, which"},
	{"citations", "docs/spec/a.md", "## TTL-1\n\nAs TTL-1 says.\n", ""},
	{"citations", "docs/spec/a.md", "## TTL-1\n## TTL-2\nAs TTL-1…3 say.\n", "cites TTL-3"},
	{"citations", "integration/testdata/a.py", "# LEASE-4", "cites LEASE-4"},
	{"citations", "protocol/a_test.go", "package protocol\nfunc TestA_DL15DL17() {}", "cites DL-17"},
	{"citations", "protocol/a_test.go", "package protocol\nfunc TestHTTL1_TTL0() {} // UTF-8", ""},
	{"citations", "protocol/a_test.go", "package protocol\nfunc TestA_ADR1() {}", "cites ADR 1"},
	{"citations", "protocol/a.go", "package protocol // as ADR 3 and 12 say", "cites ADR 12"},
	{"citations", "protocol/a.go", "package protocol // docs/adr/0007", "cites ADR 7"},
	{"citations", "docs/adr/0007-a.md", "ADR 7, or docs/adr/0007", ""},
	{"citations", "protocol/a.go", "package protocol // docs/a.md", "cites docs/a.md"},
	{"citations", "README.md", "see https://example.com/docs/a.md", ""},
	{"citations", "docs/a.md", "see a.md", ""},
	{"citations", "protocol/a.go", "package protocol // DESIGN", "cites DESIGN"},
	{"citations", "docs/a.md", "STYLE 5", "cites STYLE"},
	{"citations", "protocol/a.go", "package protocol // [AMQP §4.2]", "cites §"},
}

// sound is a tree in which all citations resolve.
var sound = fstest.MapFS{
	"docs/spec/ttl.md": {Data: []byte("# TTL\n\n## TTL-1\n\nA TTL (ADR 7).\n\n- Source: ours\n- Tests: [TestA](../../protocol/a_test.go#TestA_TTL1)\n\n" +
		"## TTL-2\n\nAs [TTL-1](#ttl-1).\n\n- Source: ours\n- Tests: [FuzzA](../../protocol/a_test.go#FuzzA)\n")},
	"docs/adr/0007-a.md": {Data: []byte("It is [so](../spec/ttl.md#ttl-2).\n")},
	"protocol/a_test.go": {Data: []byte("package protocol\n\n// TTL-1, TTL-2 (ADR 7, docs/spec/ttl.md)\nfunc TestA_TTL1() {}\nfunc FuzzA() {}\n")},
}

// Citations that resolve cause no complaint; without the page, the test or the record they do.
func TestCitationsResolve(t *testing.T) {
	for without, want := range map[string]string{
		"": "", "docs/spec/ttl.md": "cites TTL-2", "docs/adr/0007-a.md": "cites ADR 7", "protocol/a_test.go": "the test of TTL-2 is not there",
	} {
		tree := maps.Clone(sound)
		delete(tree, without)
		h, err := open(tree)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(slices.Concat(checkProofs(h), checkCitations(h), checkLinks(h)), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("without %q: got %q, want %q", without, got, want)
		}
	}
}

func TestDecisionsHaveOneNumber(t *testing.T) {
	tree := maps.Clone(sound)
	tree["docs/adr/0007-b.md"] = &fstest.MapFile{}
	h, err := open(tree)
	if err != nil {
		t.Fatal(err)
	}
	if got := checkDecisions(h); len(got) != 1 || got[0] != "docs/adr/0007-b.md: 0007 is another decision's number" {
		t.Errorf("%q", got)
	}
}

func TestRulesComplain(t *testing.T) {
	tried := make(map[string]bool)
	for _, tc := range wrong {
		h, err := open(fstest.MapFS{tc.path: &fstest.MapFile{Data: []byte(tc.source)}})
		if err != nil {
			t.Fatalf("%s: %v", tc.source, err)
		}
		tried[tc.rule] = tried[tc.rule] || tc.complaint != ""
		for _, rule := range rules {
			if rule.name != tc.rule {
				continue
			}
			got := strings.Join(rule.check(h), "\n")
			if tc.complaint == "" && got != "" || !strings.Contains(got, tc.complaint) {
				t.Errorf("%s, %s, %q: got %q, want %q", tc.rule, tc.path, tc.source, got, tc.complaint)
			}
		}
	}
	for _, rule := range rules {
		if !tried[rule.name] {
			t.Errorf("no wrong tree for rule %q", rule.name)
		}
	}
}
