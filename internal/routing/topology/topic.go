package topology

import (
	"slices"
	"strings"
)

// topic matches binding keys as patterns of words. [AMQP 3.1.3.3] As in RabbitMQ, keys are split at every '.', so that
// words can be empty ("a." is "a" and ""), but the empty key has no words: "#" matches it, "*" does not. '*' and '#'
// are wildcards only as whole words of a binding key.
type topic struct {
	root *topicNode // nil when there is no binding
}

// topicNode represents a binding key, or a prefix of binding keys. It is immutable. The words between two '#' may match
// anywhere in a key and are read forwards from there; words after the last '#' match only at its end, and are kept
// backwards, so that a key is compared with them once.
type topicNode struct {
	words tree[*topicNode] // next nodes by word
	star  *topicNode       // next node for any one word
	hash  *topicNode       // next node for any number of words
	tails *topicNode       // of a node behind '#': root of the words after the last '#', the last word first
	here  destinations     // of bindings whose key ends here

	// The greatest cost of a key, in steps (work.go). A key follows one of words, but any number of nodes behind '#'.
	steps int // of one arrival at this node; unless it is behind '#', with the nodes behind its '#'
	most  int // the highest steps of words
	later int // of all nodes behind '#' reached by words, together
}

// tailMark stands before the reversed words after the last '#' in a path; no word contains it.
const tailMark = "."

// topicPath returns the path of a binding key in the tree. Successive '#' are as one.
func topicPath(key string) []string {
	if key == "" {
		return nil
	}
	path := strings.Split(key, ".")
	path = slices.CompactFunc(path, func(a, b string) bool { return a == "#" && b == "#" })
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] != "#" {
			continue
		}
		if i < len(path)-1 {
			path = slices.Insert(path, i+1, tailMark)
			slices.Reverse(path[i+2:])
		}
		break
	}
	return path
}

func (m *topic) with(b *bound) matcher {
	return &topic{root: m.root.change(topicPath(b.RoutingKey), false, withDestination, b)}
}

func (m *topic) without(b *bound) matcher {
	return &topic{root: m.root.change(topicPath(b.RoutingKey), false, withoutDestination, b)}
}

func (m *topic) loads() []load {
	return []load{{m.root.cost(), maxKeySteps, "the steps to compare a routing key with the patterns"}}
}

// change copies the path from n, applies op to the destinations at its end and prunes empty nodes: nil is an empty
// node, as receiver and as result. behind is set if there is a '#' before n.
func (n *topicNode) change(path []string, behind bool, op func(destinations, *bound) destinations, b *bound) *topicNode {
	var c topicNode
	if n != nil {
		c = *n
	}
	if len(path) == 0 {
		c.here = op(c.here, b)
	} else {
		switch word, rest := path[0], path[1:]; word {
		case "*":
			c.star = c.star.change(rest, behind, op, b)
		case "#":
			c.hash = c.hash.change(rest, true, op, b)
		case tailMark:
			c.tails = c.tails.change(rest, false, op, b)
		default:
			old, _ := c.words.get([]byte(word))
			next := old.change(rest, behind, op, b)
			if next != nil {
				c.words = c.words.with(word, next)
			} else {
				c.words, _ = c.words.without(word)
			}
			c.later += next.behind() - old.behind()
			c.most = c.costliest(old.cost(), next.cost())
		}
	}
	if c.here.len() == 0 && c.words.len() == 0 && c.star == nil && c.hash == nil && c.tails == nil {
		return nil
	}
	c.steps = c.most + c.star.cost()
	if c.goesOn() {
		c.steps++
	}
	if !behind {
		c.steps += c.hash.whole()
	}
	return &c
}

// costliest returns the highest cost of words, after the cost of one of them has changed.
func (n *topicNode) costliest(old, next int) (most int) {
	if next >= n.most {
		return next
	}
	if old < n.most {
		return n.most
	}
	for w := range n.words.under("") {
		if most = max(most, w.steps); most == old {
			break // none is higher
		}
	}
	return most
}

func (n *topicNode) goesOn() bool { return n.words.len() > 0 || n.star != nil }

// cost returns the steps of one arrival at n.
func (n *topicNode) cost() int {
	if n == nil {
		return 0
	}
	return n.steps
}

// behind returns the steps of all nodes behind '#' reached from n, which is behind a '#' itself.
func (n *topicNode) behind() int {
	if n == nil {
		return 0
	}
	return n.later + n.star.behind() + n.hash.whole()
}

// whole returns the steps of a node behind '#', which is followed along each word of a key.
func (n *topicNode) whole() int {
	if n == nil {
		return 0
	}
	return n.tails.cost() + keyWords*n.steps + n.behind()
}

// topicWalk is the memory for matching one key: the nodes reachable with the words read so far. A node has one parent,
// so now has no duplicates; a node behind '#' stays reachable and is kept separately, once.
type topicWalk struct {
	key       []byte
	ends      []int // of the words of key
	now, next []*topicNode
	hashes    distinct[*topicNode]
	reached   []int        // the number of words read before each of hashes
	again     []*topicNode // the nodes of hashes to follow along each word
}

func (m *topic) match(r *Router) {
	if m.root == nil {
		return
	}
	w := &r.topic
	for _, key := range r.keys {
		if !r.compare(1) {
			return
		}
		w.split(key)
		w.forwards(r, m.root)
		for i, n := range w.hashes.list {
			if n.here.len() > 0 {
				r.collect(&n.here)
			}
			if n.tails != nil {
				w.backwards(r, n.tails, w.reached[i])
			}
		}
		w.reset()
	}
}

func (w *topicWalk) split(key []byte) {
	w.key, w.ends = key, w.ends[:0]
	if len(key) == 0 {
		return
	}
	for i, c := range key {
		if c == '.' {
			w.ends = append(w.ends, i)
		}
	}
	w.ends = append(w.ends, len(key))
}

// word returns word i of the key.
func (w *topicWalk) word(i int) []byte {
	if i == 0 {
		return w.key[:w.ends[0]]
	}
	return w.key[w.ends[i-1]+1 : w.ends[i]]
}

// forwards reads all words of the key from a root. It collects the destinations where the key ends, except destinations
// behind '#', which are then in hashes. It stops when a limit of steps is exceeded.
func (w *topicWalk) forwards(r *Router, root *topicNode) {
	w.arrive(r, root, 0)
	for i := range w.ends {
		w.now, w.next = w.next, w.now[:0]
		again := len(w.again)
		if len(w.now)+again == 0 || !r.compare(len(w.now)+again) {
			return
		}
		word := w.word(i)
		for _, n := range w.now {
			w.step(r, n, word, i+1)
		}
		for j := range again {
			w.step(r, w.again[j], word, i+1)
		}
		clear(w.now)
	}
}

// step follows n along one word; at is the number of words read with it.
func (w *topicWalk) step(r *Router, n *topicNode, word []byte, at int) {
	if next, found := n.words.get(word); found {
		w.arrive(r, next, at)
	}
	if n.star != nil {
		w.arrive(r, n.star, at)
	}
}

// arrive adds n for the next word, and the node behind its '#', which may match no word.
func (w *topicWalk) arrive(r *Router, n *topicNode, at int) {
	if at < len(w.ends) {
		if n.goesOn() {
			w.next = append(w.next, n)
		}
	} else if n.here.len() > 0 {
		r.collect(&n.here)
	}
	if n.hash != nil && w.hashes.add(n.hash) {
		w.reached = append(w.reached, at)
		if n.hash.goesOn() {
			w.again = append(w.again, n.hash)
		}
	}
}

// backwards collects the destinations of tails that the words from from on end with.
func (w *topicWalk) backwards(r *Router, tails *topicNode, from int) {
	clear(w.now)
	clear(w.next)
	w.now, w.next = append(w.now[:0], tails), w.next[:0]
	for i := len(w.ends) - 1; i >= from && len(w.now) > 0 && r.compare(len(w.now)); i-- {
		word := w.word(i)
		for _, n := range w.now {
			if next, found := n.words.get(word); found {
				w.end(r, next)
			}
			if n.star != nil {
				w.end(r, n.star)
			}
		}
		clear(w.now)
		w.now, w.next = w.next, w.now[:0]
	}
}

// end collects the destinations of a tail, and adds it for the word before.
func (w *topicWalk) end(r *Router, n *topicNode) {
	if n.here.len() > 0 {
		r.collect(&n.here)
	}
	if n.goesOn() {
		w.next = append(w.next, n)
	}
}

// reset forgets all nodes, so that an idle router keeps no old table from the garbage collector.
func (w *topicWalk) reset() {
	clear(w.now)
	clear(w.next)
	clear(w.again)
	w.key, w.now, w.next, w.again, w.reached = nil, w.now[:0], w.next[:0], w.again[:0], w.reached[:0]
	w.hashes.reset()
}
