package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tests is the argument of a TestMain.
type Tests struct{ inner interface{ Run() int } }

// Of wraps the tests of a package, a *testing.M:
//
//	func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }
func Of(m interface{ Run() int }) *Tests { return &Tests{m} }

// folders are the variables that name a user's folders.
var folders = []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// forTests are the prefixes of Candlemark's variables for tests; all others are settings of the user's broker,
// including its data folder.
var forTests = []string{"CANDLEMARK_REQUIRE_CLIENTS", "CANDLEMARK_REWRITE", "CANDLEMARK_SMALL_DISK", "CANDLEMARK_TEST_"}

// inside tells a test program started by a test that it is in a sandbox.
const inside = "CANDLEMARK_TEST_SANDBOX"

var outside = os.Environ()

// Outside returns the environment of the user. It is for the go command, which has its caches there.
func Outside() []string { return slices.Clone(outside) }

// Run runs the tests and returns the exit code: not 0 when one failed, or when
// something is left in the user's folders or beside the source of the package.
func (t *Tests) Run() int {
	if os.Getenv(inside) != "" {
		return t.inner.Run()
	}
	dir, err := os.MkdirTemp("", "candlemark-home-")
	if err != nil {
		return complain(err)
	}
	defer os.RemoveAll(dir)
	for _, v := range outside {
		name, _, _ := strings.Cut(v, "=")
		mine := func(known string) bool { return strings.HasPrefix(name, known) }
		if strings.HasPrefix(name, "CANDLEMARK_") && !slices.ContainsFunc(forTests, mine) {
			_ = os.Unsetenv(name)
		}
	}
	for _, name := range append(folders, inside) {
		if err := os.Setenv(name, dir); err != nil {
			return complain(err)
		}
	}
	if err := os.Setenv("CANDLEMARK_CONFIG", "none"); err != nil { // the system's file belongs to a broker of the user
		return complain(err)
	}
	before := sourceFiles()
	code := t.inner.Run()
	if added := slices.DeleteFunc(sourceFiles(), func(name string) bool { return slices.Contains(before, name) }); len(added) > 0 {
		return complain(fmt.Errorf("tests wrote to the folder of their package:\n%s", strings.Join(added, "\n")))
	}
	if left := leftIn(dir); len(left) > 0 {
		return complain(fmt.Errorf("tests wrote to the user's folders:\n%s", strings.Join(left, "\n")))
	}
	return code
}

// sourceFiles lists the folder of the package, in which its tests run, without profiles and test programs of the go command.
func sourceFiles() (names []string) {
	list, _ := os.ReadDir(".") // it exists
	for _, f := range list {
		if ext := filepath.Ext(f.Name()); ext != ".test" && ext != ".out" && ext != ".prof" {
			names = append(names, f.Name())
		}
	}
	return names
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	return 1
}

// leftIn lists the contents of a folder.
func leftIn(dir string) []string {
	var left []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		left = append(left, err.Error())
	}
	return left
}
