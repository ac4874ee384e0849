package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// run stands for the tests of a package.
type run func() int

func (f run) Run() int { return f() }

// TestUserFoldersStayEmpty: files left in one of the user's folders fail the tests, and no setting of the user's own broker reaches them.
func TestUserFoldersStayEmpty(t *testing.T) {
	for _, name := range append(folders, inside) {
		t.Setenv(name, "")
	}
	before := outside
	defer func() { outside = before }()
	t.Setenv("CANDLEMARK_DATA_DIR", "/home/user/data")
	t.Setenv("CANDLEMARK_REWRITE", "1")
	outside = os.Environ()
	tests := func() int {
		if _, set := os.LookupEnv("CANDLEMARK_DATA_DIR"); set || os.Getenv("CANDLEMARK_REWRITE") != "1" {
			t.Error("the environment is", os.Environ())
		}
		return 0
	}
	if code := Of(run(tests)).Run(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, name := range folders {
		t.Setenv(inside, "")
		wrote := ""
		code := Of(run(func() int {
			wrote = filepath.Join(os.Getenv(name), "a", "b")
			if err := os.MkdirAll(wrote, 0o700); err != nil {
				t.Error(err)
			}
			return Of(run(func() int { return 0 })).Run() // a test program started by a test
		})).Run()
		if code == 0 {
			t.Errorf("a folder in %s was not seen", name)
		}
		if _, err := os.Stat(wrote); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", wrote, err)
		}
	}
}

// TestPackageFolderStaysClean: a file that is left beside the source of the package fails the tests.
func TestPackageFolderStaysClean(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range append(folders, inside) {
		t.Setenv(name, "")
	}
	for name, want := range map[string]int{"erl_crash.dump": 1, "cpu.prof": 0} {
		t.Setenv(inside, "")
		code := Of(run(func() int {
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Error(err)
			}
			return 0
		})).Run()
		if code != want {
			t.Errorf("exit code %d with %s, want %d", code, name, want)
		}
	}
}
