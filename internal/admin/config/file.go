package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemFile is read if it exists and no other file is given.
const systemFile = "/etc/candlemark/candlemark.conf"

// parts are the files read after the main file, in the order of their names.
const parts = "conf.d/*.conf"

// line is one setting in a file.
type line struct {
	key, value string
	place      string // file:line
}

// readFiles reads a file and its parts. The system's file need not exist. A repeated key replaces the earlier one, in
// its place.
func readFiles(name, system string) (lines []line, read []string, err error) {
	main := name
	if main == "" {
		main = system
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(main), parts))
	if err != nil {
		return nil, nil, err // the folder's name is an invalid pattern
	}
	slices.Sort(files)
	var failed error
	for _, file := range append([]string{main}, files...) {
		content, err := os.ReadFile(file)
		if name == "" && file == main && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		read = append(read, file)
		more, err := parse(file, string(content))
		failed = errors.Join(failed, err)
		for _, l := range more {
			again := func(earlier line) bool { return earlier.key == l.key }
			if i := slices.IndexFunc(lines, again); i >= 0 {
				lines[i] = l
				continue
			}
			lines = append(lines, l)
		}
	}
	return lines, read, failed
}

// parse reads the lines of a file in the syntax of rabbitmq.conf: key = value, and comments after #. A value may be in
// single quotes, and then contain a #.
func parse(file, content string) (lines []line, failed error) {
	number := 0
	for text := range strings.Lines(content) {
		number++
		l := line{place: fmt.Sprintf("%s:%d", file, number)}
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		var whole bool
		l.key, l.value, whole = strings.Cut(text, "=")
		l.key, l.value = strings.TrimSpace(l.key), strings.TrimSpace(l.value)
		if !whole || l.key == "" || strings.ContainsAny(l.key, " \t#'") {
			failed = errors.Join(failed, fmt.Errorf("%s: neither a line of the form key = value nor a comment", l.place))
			continue
		}
		if err := l.unquote(); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		lines = append(lines, l)
	}
	return lines, failed
}

// unquote removes quotes and comment from the value.
func (l *line) unquote() error {
	if !strings.HasPrefix(l.value, "'") {
		l.value, _, _ = strings.Cut(l.value, "#")
		l.value = strings.TrimSpace(l.value)
		return nil
	}
	value, rest, closed := strings.Cut(l.value[1:], "'")
	if rest = strings.TrimSpace(rest); !closed || rest != "" && rest[0] != '#' {
		return fmt.Errorf("%s: %s: a value in single quotes must end with the closing quote", l.place, l.key)
	}
	l.value = value
	return nil
}
