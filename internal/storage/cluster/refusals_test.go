package cluster_test

import (
	"crypto/x509/pkix"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"candlemark/integration/testkit"
	"candlemark/internal/access/certificate"
	"candlemark/internal/storage/cluster"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store"

	"github.com/rs/zerolog"
)

type lines func(string)

func (l lines) Write(b []byte) (int, error) {
	l(string(b))
	return len(b), nil
}

// waitFor waits for a line with a text.
func waitFor(t *testing.T, from <-chan string, text string) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case s := <-from:
			if strings.Contains(s, text) {
				return
			}
		case <-limit:
			t.Fatalf("nobody said %q", text)
		}
	}
}

// TestFolders_CLU2: a folder of a cluster is no folder of a broker alone, and the other way round; it is locked, and has one name.
func TestFolders_CLU2(t *testing.T) {
	g := newTrio(t, nil)
	g.lead()
	c := g.cfg["n1"]
	if _, err := cluster.Open(c); !errors.Is(err, definitions.ErrInUse) {
		t.Errorf("twice: %v", err)
	}
	g.stop("n1")
	if _, err := definitions.Open(c.Dir); !errors.Is(err, definitions.ErrCluster) {
		t.Errorf("without a cluster: %v", err)
	}
	other := c
	other.Name = "n2"
	if _, err := cluster.Open(other); err == nil || !strings.Contains(err.Error(), "the node n1") {
		t.Errorf("as another node: %v", err)
	}
	single := c
	single.Dir = t.TempDir()
	f, err := definitions.Open(single.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := definitions.Wait(f, definitions.Change{Put: []any{definitions.Incarnation(1)}}); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := cluster.Open(single); !errors.Is(err, definitions.ErrSingle) {
		t.Errorf("a single broker's: %v", err)
	}
}

// TestStrangers_CLU4: a node with another secret is refused on both sides, and the others go on.
func TestStrangers_CLU4(t *testing.T) {
	said := make(chan string, 1000)
	g := newTrio(t, func(_ string, c *cluster.Config) {
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case said <- s:
			default:
			}
		}))
	})
	w := g.lead()
	away := "n1"
	if w.name == away {
		away = "n2"
	}
	g.stop(away)
	usual := g.cfg[away]
	try := func(text string, change func(*cluster.Config)) {
		t.Helper()
		c := usual
		own := make(chan string, 1000)
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case own <- s:
			default:
			}
		}))
		c.Dir = filepath.Join(t.TempDir(), "stranger")
		change(&c)
		n, err := cluster.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, own, text)
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		w.fill(1, uint64(time.Now().UnixNano()), 1)
	}
	try("secret of the cluster differs", func(c *cluster.Config) { c.Secret = []byte("guessed") })
	waitFor(t, said, "secret of the cluster differs")
}

// TestDamage_CLU8: a bit that flipped in a message on the leader's disk ends that node; the others have the message.
func TestDamage_CLU8(t *testing.T) {
	failed := make(chan error, 3)
	g := newTrio(t, func(name string, c *cluster.Config) {
		steady(name, c)
		c.OnFailure = func(err error) { failed <- err }
	})
	w := g.lead()
	body := []byte(strings.Repeat("candle", 1000))
	if err := w.put(1, 1, body); err != nil {
		t.Fatal(err)
	}
	g.settled(w)
	old, j := w.name, w.Journal
	journal := filepath.Join(g.cfg[old].Dir, "replica-1", "journal")
	list := make(chan []store.Recovered, 1)
	j.Recall(1, func(l []store.Recovered, _ error) { list <- l })
	m := (<-list)[0]
	flip(t, filepath.Join(journal, "0000000001.segment"), "candlecandle")
	j.Read(1, []store.Ref{{Seq: 1, At: m.At}}, func(c []store.Content) { t.Errorf("read: %v", c[0].Err) })
	if err := <-failed; !errors.Is(err, store.ErrDamaged) && !strings.Contains(err.Error(), "damaged") {
		t.Errorf("failed by %v", err)
	}
	g.stop(old)
	w = g.lead()
	list2 := w.Take(1)
	if len(list2) != 1 {
		t.Fatalf("%d messages", len(list2))
	}
	read := make(chan store.Content, 1)
	w.Read(1, []store.Ref{{Seq: 1, At: list2[0].At}}, func(c []store.Content) { read <- c[0] })
	if c := <-read; c.Err != nil || string(c.Record.Body) != string(body) {
		t.Errorf("read %v", c.Err)
	}
}

// flip flips a bit of a text in a file.
func flip(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), text)
	if at < 0 {
		t.Fatalf("%s does not contain %q", path, text)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{b[at+5] ^ 1}, int64(at+5)); err != nil {
		t.Fatal(err)
	}
}

// TestTLS_CLU15: a cluster with certificates and without a secret; a node without certificates gets nothing from it.
func TestTLS_CLU15(t *testing.T) {
	a, said := testkit.NewAuthority(t), make(chan string, 1000)
	g := newTrio(t, func(_ string, c *cluster.Config) {
		files := certificate.Files{VerifyPeer: true, RequirePeer: true}
		files.Cert, files.Key, files.CA = a.Write(t.TempDir(), a.Issue(pkix.Name{CommonName: "node"}))
		source, err := certificate.Open(files)
		if err != nil {
			t.Fatal(err)
		}
		c.TLS, c.Secret = source, nil
		c.Log = zerolog.New(lines(func(s string) {
			select {
			case said <- s:
			default:
			}
		}))
	})
	w := g.lead()
	w.fill(1, 1, 3)
	g.settled(w)
	away := others(w.name)[0]
	g.stop(away)
	c := g.cfg[away]
	c.TLS = nil
	g.cfg[away] = c
	g.start(away)
	waitFor(t, said, "TLS")
	if leader := g.nodes[away].Leader(); leader != "" {
		t.Errorf("it follows %s", leader)
	}
	w.fill(1, 4, 3)
}
