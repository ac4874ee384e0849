package integration

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is a browser window with a page of a broker. It fails the test when the page writes an error to the console or sends a
// request to any other host.
type tab struct {
	*testing.T
	ctx    context.Context
	broker *broker
	close  func() // the browser renders only the visible window: one at a time
	// refused are parts of error messages, written to the console by the browser, about answers that a test provokes.
	refused []string

	mu     sync.Mutex
	errors []string
	asking map[network.RequestID]struct{} // pending requests
}

// look is the size of a window.
type look struct{ width, height int64 }

var desktop = look{width: 1280, height: 900}

// open opens the page at an address below the broker's, such as "#/queues", in a window of its own, as large as a desktop.
func (br *browser) open(b *broker, address string) *tab {
	br.Helper()
	w := &tab{T: br.T, broker: b, asking: map[network.RequestID]struct{}{}}
	ctx, cancel := chromedp.NewContext(br.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(w.listen))
	w.ctx, w.close = ctx, sync.OnceFunc(func() {
		w.complain()
		cancel()
	})
	br.Cleanup(w.close)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(desktop.width, desktop.height)); err != nil {
		br.Fatal(err)
	}
	w.scheme("light")
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		br.Fatal(err)
	}
	w.do(chromedp.Navigate(w.url(address)))
	return w
}

// resize sets the size of the window.
func (w *tab) resize(l look) {
	w.Helper()
	w.do(chromedp.EmulateViewport(l.width, l.height))
}

// scheme emulates a system with that color-scheme: light or dark.
func (w *tab) scheme(name string) {
	w.Helper()
	if _, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}); err != nil {
		w.Fatal(err)
	}
}

func (w *tab) url(address string) string { return "http://" + w.broker.http + "/" + address }

// listen records events that must not happen.
func (w *tab) listen(event any) {
	note := func(format string, args ...any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.errors = append(w.errors, fmt.Sprintf(format, args...))
	}
	w.count(event)
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if to, err := url.Parse(e.Request.URL); err != nil || to.Host != w.broker.http && to.Scheme != "data" {
			note("the page asks %s", e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		note("the page opens %s", e.URL)
	case *runtime.EventExceptionThrown:
		note("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			note("console: %s %+v", e.Type, e.Args)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			note("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		note("the page opens a dialog: %s", e.Message)
	}
}

// count keeps track of pending requests.
func (w *tab) count(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		w.asking[e.RequestID] = struct{}{}
	case *network.EventLoadingFinished:
		delete(w.asking, e.RequestID)
	case *network.EventLoadingFailed:
		delete(w.asking, e.RequestID)
	}
}

// complain reports the recorded events, except expected ones, as errors of the test.
func (w *tab) complain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.errors {
		expected := false
		for _, part := range w.refused {
			expected = expected || strings.HasPrefix(text, "network: Failed to load resource") && strings.Contains(text, part)
		}
		if !expected {
			w.Error(text)
		}
	}
	w.errors = nil
}

func (w *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	w.Helper()
	act(w, chromedp.Steps(actions...))
}

// act runs an action and returns its value.
func act[T any](w *tab, action chromedp.Action[T]) T {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 2*patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		w.Fatalf("%v; the page shows %q", err, w.shown())
	}
	return v
}

// text returns the text of the page.
func (w *tab) text() string {
	w.Helper()
	return eval[string](w, "document.body.innerText")
}

// shown returns the text of the page for the message of a failure, or the error if the page does not answer.
func (w *tab) shown() string {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// eval evaluates an expression in the page and returns its value.
func eval[T any](w *tab, expression string) T {
	w.Helper()
	return act(w, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression is true. An exception counts as false, as when an element is not there yet: a poll throws it
// in the page, which would be the page's fault.
func (w *tab) until(expression string) {
	w.Helper()
	var err error
	check := fmt.Sprintf("(() => { try { return %s } catch { return false } })()", expression)
	for range 240 { // slices of a second each, so that a pause of the process does not use up the whole time
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		_, err = chromedp.Run(ctx, chromedp.Poll[bool](check, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(0)))
		if cancel(); err == nil {
			return
		}
	}
	w.Fatalf("%s: %v; the page shows %q", expression, err, w.shown())
}

// sees waits until the page contains a text.
func (w *tab) sees(text string) {
	w.Helper()
	w.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// fill writes into a field.
func (w *tab) fill(selector, text string) {
	w.Helper()
	_ = eval[bool](w, fmt.Sprintf("(document.querySelector(%q).focus(), document.querySelector(%q).select(), true)", selector, selector))
	w.do(chromedp.KeyEvent(kb.Delete))
	if text != "" {
		w.do(chromedp.KeyEvent(text))
	}
}

// click clicks the button, link or similar element with that text that matches a selector, once it is enabled.
func (w *tab) click(selector, text string) {
	w.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find((e) => e.textContent.trim() === %q && !e.matches(':disabled'))", selector, text)
	w.until(find + " !== undefined")
	_ = eval[bool](w, "("+find+".click(), true)")
}

// logIn fills in and submits the login form.
func (w *tab) logIn(user, password string) {
	w.Helper()
	w.until("document.querySelector('.login') !== null")
	w.fill("input[name=username]", user)
	w.fill("input[name=password]", password)
	w.do(chromedp.KeyEvent(kb.Enter))
}

// asGuest logs in as the administrator.
func (w *tab) asGuest() *tab {
	w.Helper()
	w.logIn("guest", "guest")
	w.until("document.querySelector('header') !== null")
	return w
}

// rows returns the texts of a column of the table.
func (w *tab) rows(column string) []string {
	w.Helper()
	return eval[[]string](w, fmt.Sprintf("[...document.querySelectorAll('.items tbody [data-column=%s]')].map((e) => e.textContent)", column))
}

// shoot writes a screenshot of the whole page to the folder named by CANDLEMARK_TEST_PICTURES, if set.
func (w *tab) shoot(name string) {
	w.Helper()
	folder := os.Getenv("CANDLEMARK_TEST_PICTURES")
	if folder == "" {
		return
	}
	picture := act(w, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		w.Error(err)
	}
}
