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

// chromium is Debian's Chromium without windows: it needs less than half of the processor time of the whole one.
var chromium = foreign{
	name: "chromium", where: "Debian's chromium-headless-shell",
	probe: []string{chromiumPath, "--version"},
}

const chromiumPath = "/usr/bin/chromium-headless-shell"

// browser is one of a test's, with windows that share nothing.
type browser struct {
	*testing.T
	ctx context.Context
}

// browsers are kept for the tests after those that started them: a start costs more than most tests of a page. No two tests have the
// same one at a time, for one window at a time is drawn; their windows share nothing, and a browser of a test that failed is not used again.
var browsers struct {
	mu   sync.Mutex
	free []keptBrowser
}

type keptBrowser struct {
	ctx context.Context
	end func()
}

// newBrowser returns one that is the test's own until it ends.
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

// startBrowser starts one whose folder is below the tests' own.
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
	if os.Getuid() == 0 { // as in containers, where its own sandbox cannot be had
		options = append(options, chromedp.NoSandbox)
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	kept := keptBrowser{ctx, sync.OnceFunc(func() {
		_ = chromedp.Cancel(ctx) // waits until it is gone, as its folder is deleted
		cancel()
		cancelAllocator()
	})}
	if err := chromedp.Do(ctx); err != nil {
		kept.end()
		t.Fatalf("the browser does not start: %v", err)
	}
	return kept
}

// endBrowsers ends those that no test uses.
func endBrowsers() {
	for {
		kept, ok := freeBrowser()
		if !ok {
			return
		}
		kept.end()
	}
}
