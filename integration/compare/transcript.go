package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Observations other than frames.
const (
	endOfConnection = "(end of connection)"
	noAnswer        = "(no answer)"
)

// transcript records methods of both sides, lane by lane.
type transcript struct {
	names []string
	lanes map[string][]entry
}

// entry is one line: of the client (said) or of the server.
type entry struct {
	text string
	said bool
}

func newTranscript() *transcript { return &transcript{lanes: map[string][]entry{}} }

func (t *transcript) add(lane string, e entry) {
	if _, ok := t.lanes[lane]; !ok {
		t.names = append(t.names, lane)
	}
	t.lanes[lane] = append(t.lanes[lane], e)
}

func lane(conn int, ch uint16) string { return fmt.Sprintf("connection %d channel %d", conn, ch) }

func (t *transcript) said(conn int, ch uint16, text string) {
	t.add(lane(conn, ch), entry{text: text, said: true})
}

func (t *transcript) saw(conn int, ch uint16, text string) {
	t.add(lane(conn, ch), entry{text: text})
}

// confirmed goes to the lane of confirms and returns.
func (t *transcript) confirmed(conn int, ch uint16, text string) {
	t.add(lane(conn, ch)+" confirms", entry{text: text})
}

// without removes matches, except for their groups, from all lines of the server and returns their number.
func (t *transcript) without(pattern *regexp.Regexp) (found int) {
	for _, entries := range t.lanes {
		for i := range entries {
			if e := &entries[i]; !e.said {
				found += len(pattern.FindAllStringIndex(e.text, -1))
				e.text = pattern.ReplaceAllString(e.text, "$1$2$3")
			}
		}
	}
	return found
}

func (t *transcript) String() string {
	var b strings.Builder
	for _, name := range t.names {
		fmt.Fprintf(&b, "  %s\n", name)
		for _, e := range t.lanes[name] {
			fmt.Fprintf(&b, "    %s %s\n", e.sign(), e.text)
		}
	}
	return b.String()
}

func (e entry) sign() string {
	if e.said {
		return ">"
	}
	return "<"
}

// difference is where two transcripts part.
type difference struct {
	shown []string // both sides, with the client's methods around them
	onlyA []string // lines of the server that only a has
	onlyB []string
}

// differ compares lane by lane; nil when all are equal.
func differ(a, b *transcript) *difference {
	d := &difference{}
	names := slices.Clone(a.names)
	for _, name := range b.names {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if x, y := a.lanes[name], b.lanes[name]; !slices.Equal(x, y) {
			d.shown = append(d.shown, "  "+name)
			d.lane(x, y)
		}
	}
	if len(d.shown) == 0 {
		return nil
	}
	return d
}

// lane writes the two sides of a lane as one, equal lines once.
func (d *difference) lane(a, b []entry) {
	common := commonSubsequence(a, b)
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j] && common[i][j] == common[i+1][j+1]+1:
			d.shown = append(d.shown, "      "+a[i].sign()+" "+a[i].text)
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			d.shown = append(d.shown, "    A "+a[i].sign()+" "+a[i].text)
			d.onlyA = append(d.onlyA, a[i].text)
			i++
		default:
			d.shown = append(d.shown, "    B "+b[j].sign()+" "+b[j].text)
			d.onlyB = append(d.onlyB, b[j].text)
			j++
		}
	}
}

// commonSubsequence holds at [i][j] how many lines a[i:] and b[j:] have in common, in order.
func commonSubsequence(a, b []entry) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	return common
}
