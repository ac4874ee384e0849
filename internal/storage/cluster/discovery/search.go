package discovery

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"candlemark/internal/storage/cluster/nodeid"
)

// Finder finds the nodes of a cluster that the settings do not name.
type Finder interface {
	Find(context.Context) (Found, error)
}

// maxNoted is the largest number of addresses in Search.where.
const maxNoted = 64

// Search has the results of a Finder (CLU-30). Without one it finds nothing and has no objection.
type Search struct {
	Finder Finder
	Size   int // the least number of nodes that form a cluster

	mu     sync.Mutex
	found  Found
	agreed string            // identities of the last survey
	where  map[string]string // addresses at which nodes have answered, by identity
}

// On reports whether there is a Finder.
func (s *Search) On() bool { return s.Finder != nil }

// Find asks the Finder, until ended is closed. After an error the results stay.
func (s *Search) Find(ended <-chan struct{}) error {
	if s.Finder == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	f, err := s.Finder.Find(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.found = f
	}
	return err
}

// Found returns the last result.
func (s *Search) Found() Found {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found
}

// Roster returns the nodes of the last survey, which the other nodes must know, too, before they form a cluster.
func (s *Search) Roster() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agreed
}

// Agree notes the identities of the nodes of a survey, sorted. It returns why they can form no cluster: two have the same name, they are too few, or
// the survey before had others, so that the other nodes do not know these yet.
func (s *Search) Agree(identities []string) (problems []string) {
	if s.Finder == nil {
		return nil
	}
	names := map[string]bool{}
	for _, id := range identities {
		if name := nodeid.NameOf(id); names[name] {
			problems = append(problems, "there are two nodes with the name "+name)
		}
		names[nodeid.NameOf(id)] = true
	}
	if len(names) < s.Size {
		problems = append(problems, fmt.Sprintf("%d of %d nodes are there", len(names), s.Size))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := strings.Join(identities, " "); now != s.agreed {
		s.agreed = now
		problems = append(problems, "the nodes that were found are not those of a moment ago")
	}
	return problems
}

// Note notes at which address a node has answered: all nodes may have got other addresses at once.
func (s *Search) Note(identity, address string) {
	if s.Finder == nil || identity == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.where == nil || len(s.where) == maxNoted {
		s.where = map[string]string{}
	}
	s.where[identity] = address
}

// Noted returns an address at which a node has answered; "" if there is none.
func (s *Search) Noted(identity string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.where[identity]
}
