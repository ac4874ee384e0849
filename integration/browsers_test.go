package integration

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// chromium is Debian's headless Chromium: it needs less than half of the CPU time of the full browser.
var chromium = foreign{
	name: "chromium", where: "Debian's chromium-headless-shell",
	probe: []string{chromiumPath, "--version"},
}

const chromiumPath = "/usr/bin/chromium-headless-shell"

// browser is a browser used by one test; its windows share no state.
type browser struct {
	*testing.T
	ctx context.Context
}

// browsers are reused by later tests: starting one costs more than most tests of a page. Tests do not use one concurrently,
// because only one window at a time is rendered; windows share no state, and a browser is not reused after a failed test.
var browsers struct {
	mu   sync.Mutex
	free []keptBrowser
}

type keptBrowser struct {
	ctx context.Context
	end func()
}

// newBrowser returns a browser that the test uses exclusively until its end.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	chromium.want(t)
	kept, ok := freeBrowser()
	if !ok {
		kept = startBrowser(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			kept.end()
			return
		}
		browsers.mu.Lock()
		defer browsers.mu.Unlock()
		browsers.free = append(browsers.free, kept)
	})
	return &browser{t, kept.ctx}
}

func freeBrowser() (kept keptBrowser, ok bool) {
	browsers.mu.Lock()
	defer browsers.mu.Unlock()
	last := len(browsers.free) - 1
	if last < 0 {
		return keptBrowser{}, false
	}
	kept, browsers.free = browsers.free[last], browsers.free[:last]
	return kept, true
}

// startBrowser starts a browser whose folder is inside the one of the tests.
func startBrowser(t *testing.T) keptBrowser {
	t.Helper()
	home, err := os.MkdirTemp(binaryDir, "browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromiumPath), chromedp.UserDataDir(filepath.Join(home, "profile")),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_RUNTIME_DIR="+home), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(time.Minute))
	if os.Getuid() == 0 { // as in containers, where Chromium's own sandbox is unavailable
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	kept := keptBrowser{ctx, sync.OnceFunc(func() {
		_ = chromedp.Cancel(ctx) // waits until the process has ended, because its folder is deleted
		cancel()
		cancelAllocator()
	})}
	if err := chromedp.Do(ctx); err != nil {
		kept.end()
		t.Fatalf("the browser does not start: %v", err)
	}
	return kept
}

// endBrowsers ends all unused browsers.
func endBrowsers() {
	for {
		kept, ok := freeBrowser()
		if !ok {
			return
		}
		kept.end()
	}
}
