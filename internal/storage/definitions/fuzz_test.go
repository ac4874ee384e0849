package definitions

import (
	"bytes"
	"slices"
	"testing"
)

// Any content of a table is refused, or it can be written again in a form that can be read.
func FuzzRecord(f *testing.F) {
	seeds := map[table][]string{
		vhosts:      {`{"description":"d","tags":["a"],"limits":{"max-queues":1}}`},
		accounts:    {`{"tags":["administrator"],"hash":"AAAA","algorithm":"sha256"}`},
		grants:      {`{"configure":"^(?!a).*","write":"","read":".*"}`},
		topicGrants: {`{"write":"^a","read":"b$"}`},
		exchanges:   {`{"type":"x-delayed-message","arguments":"AAAAAA=="}`},
		queues:      {`{"type":"quorum","incarnation":18446744073709551615,"arguments":"AAAABwFhSQAAAAE="}`},
		bindings:    {`{}`, `{"arguments":null}`},
		rules:       {`{"pattern":"^q","definition":{"message-ttl":1},"priority":1}`},
		values:      {`{"a":[1,null]}`},
		globals:     {`"x"`},
	}
	for i, in := range allTables {
		f.Add(uint8(i), "/", "qa", []byte("{}"))
		for _, seed := range seeds[in] {
			f.Add(uint8(i), "/", "qa", []byte(seed))
		}
	}
	f.Add(uint8(slices.Index(allTables, history)), "/", "a", []byte(`{"at":1,"user":"u","count":1,"edits":[{"name":"p","before":null,"after":{"pattern":"","definition":{"expires":1}}}]}`))
	f.Fuzz(func(t *testing.T, n uint8, first, second string, text []byte) {
		in := allTables[int(n)%len(allTables)]
		var d, again Definitions
		names := []string{first, second, "q" + first, second}
		if d.read(in, names, text) != nil {
			return
		}
		for _, v := range d.change().Put {
			written, err := content(v)
			if err != nil {
				if in == values || in == globals {
					continue // such values are checked when they are set
				}
				t.Fatalf("%s: %s was read, and cannot be written: %v", in, text, err)
			}
			_, key, _, err := identify(v)
			if err != nil {
				continue
			}
			if got, err := unseal(in, key, seal(in, key, written)); err != nil || !bytes.Equal(got, written) {
				t.Fatalf("%s: sealed %q, unsealed %q: %v", in, written, got, err)
			}
			if err := again.read(in, split(key), written); err != nil {
				t.Fatalf("%s: wrote %s, which is not read: %v", in, written, err)
			}
		}
	})
}

// The names can be restored from their key, and keys sort in the order of their names.
func FuzzKey(f *testing.F) {
	f.Add("/", "q", "a\x00b")
	f.Add("", "\x00\x01", "\xff")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if got := split(join(a, b, c)); len(got) != 3 || got[0] != a || got[1] != b || got[2] != c {
			t.Fatalf("%q %q %q come back as %q", a, b, c, got)
		}
		if (a < b) != (bytes.Compare(join(a), join(b)) < 0) {
			t.Fatalf("the keys of %q and %q sort otherwise", a, b)
		}
		split([]byte(a + b + c)) // may be no key: must not panic
	})
}
