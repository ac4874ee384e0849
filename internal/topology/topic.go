package topology

import (
	"bytes"
	"strings"
)

// topic matches binding keys as patterns of words. [AMQP 3.1.3.3] As in RabbitMQ, keys are split at every '.', so that
// words can be empty ("a." is "a" and ""), but the empty key has no words: "#" matches it, "*" does not. '*' and '#'
// are wildcards only as whole words of a binding key.
type topic struct {
	root *topicNode // nil when there is no binding
}

// topicNode represents a binding key, or a prefix of binding keys. It is immutable.
type topicNode struct {
	words tree[*topicNode] // next nodes by word
	star  *topicNode       // next node for any one word
	hash  *topicNode       // next node for any number of words
	here  destinations     // of bindings whose key ends here
}

func (m *topic) with(b *bound) matcher {
	return &topic{root: m.root.change(b.RoutingKey, b.RoutingKey != "", withDestination, b)}
}

func (m *topic) without(b *bound) matcher {
	return &topic{root: m.root.change(b.RoutingKey, b.RoutingKey != "", withoutDestination, b)}
}

// change copies the path from n along the words of rest (none are left when more is false), applies op to the
// destinations at its end and prunes empty nodes: nil is an empty node, as receiver and as result.
func (n *topicNode) change(rest string, more bool, op func(destinations, *bound) destinations, b *bound) *topicNode {
	var c topicNode
	if n != nil {
		c = *n
	}
	if !more {
		c.here = op(c.here, b)
	} else {
		word, rest, more := strings.Cut(rest, ".")
		switch word {
		case "*":
			c.star = c.star.change(rest, more, op, b)
		case "#":
			c.hash = c.hash.change(rest, more, op, b)
		default:
			next, _ := c.words.get([]byte(word))
			if next = next.change(rest, more, op, b); next != nil {
				c.words = c.words.with(word, next)
			} else {
				c.words, _ = c.words.without(word)
			}
		}
	}
	if c.here.len() == 0 && c.words.len() == 0 && c.star == nil && c.hash == nil {
		return nil
	}
	return &c
}

// topicWalk is the memory for matching one key: the nodes reachable with the words read so far. A node has one parent,
// so now has no duplicates; a node behind '#' stays reachable and is kept separately, once. So the work is at most the
// number of words times the number of nodes, even for keys and bindings designed to be slow; each node followed along a
// word is a step.
type topicWalk struct {
	now, next []*topicNode
	hashes    distinct[*topicNode]
}

func (m *topic) match(r *Router) {
	if m.root == nil {
		return
	}
	for _, key := range r.keys {
		r.topic.run(m.root, key, &r.work)
		for _, n := range r.topic.now {
			r.collect(&n.here)
		}
		for _, n := range r.topic.hashes.list {
			r.collect(&n.here)
		}
		r.topic.reset()
	}
}

// run reads all words of key; the nodes where it ends are then in now and hashes. It stops when the work limit is
// exceeded.
func (w *topicWalk) run(root *topicNode, key []byte, work *work) {
	w.reach(root)
	w.now, w.next = w.next, w.now
	for more := len(key) > 0; more; {
		word := key
		if dot := bytes.IndexByte(key, '.'); dot >= 0 {
			word, key = key[:dot], key[dot+1:]
		} else {
			more = false
		}
		waiting := len(w.hashes.list)
		for _, n := range w.now {
			if !work.spend(1) {
				return
			}
			w.step(n, word)
		}
		for i := range waiting {
			if !work.spend(1) {
				return
			}
			w.step(w.hashes.list[i], word)
		}
		clear(w.now)
		w.now, w.next = w.next, w.now[:0]
		if len(w.now) == 0 && len(w.hashes.list) == 0 {
			return
		}
	}
}

// reset forgets all nodes, so that an idle router keeps no old table from the garbage collector.
func (w *topicWalk) reset() {
	clear(w.now)
	clear(w.next)
	w.now, w.next = w.now[:0], w.next[:0]
	w.hashes.reset()
}

// step follows n along one word.
func (w *topicWalk) step(n *topicNode, word []byte) {
	if next, found := n.words.get(word); found {
		w.reach(next)
	}
	if n.star != nil {
		w.reach(n.star)
	}
}

// reach adds n for the next word, and the nodes behind its '#', which may match no word.
func (w *topicWalk) reach(n *topicNode) {
	w.next = append(w.next, n)
	for n = n.hash; n != nil && w.hashes.add(n); n = n.hash {
	} // the nodes behind a node reached earlier are already there
}
