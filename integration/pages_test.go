package integration

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	amqp "github.com/rabbitmq/amqp091-go"
)

// wrong is part of the message about a refused login that the browser writes to the console.
const wrong = "/api/x/session"

// Logged-in users see the pages until the session ends; others see the reason of the refusal, and no dialog of the browser.
func TestPagesLogIn(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	b.request("PUT", "/api/users/plain", `{"password":"p","tags":""}`, 201)
	b.request("PUT", "/api/users/ann", `{"password":"a","tags":"monitoring"}`, 201)
	w := br.open(b, "#/queues?type=quorum")
	w.refused = []string{wrong, "401"}
	for _, c := range []struct{ user, password, says string }{
		{"guest", "wrong", "Wrong user or password (Not_Authorized)."},
		{"nobody <b>", "x", "Wrong user or password (Not_Authorized)."},
		{"plain", "p", "This user has none of the tags administrator, monitoring, policymaker, management (Not management user)."},
	} {
		w.logIn(c.user, c.password)
		w.sees(c.says)
		w.fill("input[name=username]", "")
	}
	w.logIn("ann", "a")
	w.sees("of type quorum") // the filter in the address
	if cookies := eval[string](w, "document.cookie"); cookies != "" {
		t.Errorf("scripts see the cookie %q", cookies)
	}
	w.do(chromedp.Reload())
	w.sees("of type quorum")
	w.click("button", "Log out")
	w.until("document.querySelector('.login') !== null")
	if status := eval[int](w, "fetch('api/overview', {headers: {'X-Candlemark-Session': '1'}}).then((r) => r.status)"); status != 401 {
		t.Error(status)
	}
	w.logIn("ann", "a")
	w.sees("of type quorum")
	b.request("DELETE", "/api/users/ann", "", 204)
	w.sees("The session has ended. Log in again.")
}

// An address with a login, which RabbitMQ's users write, shows the form too: browsers refuse requests from a page with such an address.
func TestPagesAddressWithLogin(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	w := br.open(b, "")
	w.do(chromedp.Navigate(strings.Replace(w.url("#/queues?type=quorum"), "//", "//guest:guest@", 1)))
	w.asGuest()
	w.sees("of type quorum") // the filter in the address
	if address := eval[string](w, "document.baseURI"); strings.Contains(address, "guest") {
		t.Error(address)
	}
}

// Pages and actions for which a user lacks the tag are not offered.
func TestPagesOfOtherUsers(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	for user, tag := range map[string]string{"mon": "monitoring", "man": "management", "maker": "policymaker"} {
		b.request("PUT", "/api/users/"+user, `{"password":"p","tags":"`+tag+`"}`, 201)
		b.request("PUT", "/api/permissions/%2F/"+user, `{"configure":"","write":"","read":""}`, 201)
	}
	b.dial().queue("q", nil)
	for user, c := range map[string]struct{ memory, policy bool }{"mon": {true, false}, "man": {false, false}, "maker": {false, true}} {
		w := br.open(b, "")
		w.logIn(user, "p")
		w.sees("What is due")
		if is := strings.Contains(w.text(), "Memory\n"); is != c.memory || is == strings.Contains(w.text(), "users with the tag monitoring") {
			t.Errorf("%s: %s", user, w.text())
		}
		w.click("nav a", "Queues")
		w.until("document.querySelector('.items tbody input') !== null")
		_ = eval[bool](w, "(document.querySelector('.items tbody input').click(), true)")
		w.sees("1 queue selected")
		if is := strings.Contains(w.text(), "Set policy…"); is != c.policy {
			t.Errorf("%s: %s", user, w.text())
		}
		if strings.Contains(w.text(), "Delete…") || strings.Contains(w.text(), "Purge…") {
			t.Errorf("%s: %s", user, w.text())
		}
		w.close()
	}
}

// The strip shows the numbers of the API, and links to the queues behind them.
func TestPageNow(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	c.queue("dead <i>", amqp.Table{"x-dead-letter-exchange": ""})
	c.queue("plain", amqp.Table{"x-delayed-messages": true, "x-consumer-timeout": int64(7_000_000)})
	c.queue("leased", amqp.Table{"x-expires": int64(100_000_000)})
	for i, ttl := range []string{"1800000", "10000000", "40000000", "260000000", "1700000000", "3500000000"} {
		for range i + 1 {
			c.put("", "plain", amqp.Publishing{Expiration: ttl})
		}
		c.put("", "dead <i>", amqp.Publishing{Expiration: ttl})
	}
	c.put("", "plain", amqp.Publishing{Headers: amqp.Table{"x-delay": int64(1_190_000)}})
	c.send("plain", "1", "2", "3")
	if _, ok, err := c.Get("plain", false); err != nil || !ok {
		t.Fatal(ok, err)
	}
	w := br.open(b, "").asGuest()
	w.until("document.querySelectorAll('.strip rect').length > 10 && document.querySelector('.late').textContent !== '' && document.querySelector('.card:last-of-type .figures tbody').textContent.includes('3 messages')")
	var api struct{ Counts map[string][]int }
	if err := json.Unmarshal([]byte(b.request("GET", "/api/x/ahead", "", 200)), &api); err != nil {
		t.Fatal(err)
	}
	table := eval[[][]string](w, "[...document.querySelectorAll('.card:last-of-type .figures tbody tr')].map((r) => [...r.querySelectorAll('td')].map((c) => c.textContent))")
	for f, fate := range []string{"dead_lettered", "dropped", "scheduled", "queue_ends", "lock_returns"} {
		for class, n := range api.Counts[fate] {
			if table[class][f] != fmt.Sprint(n) {
				t.Errorf("%s %d: %s, want %d", fate, class, table[class][f], n)
			}
		}
	}
	if never := table[10][0]; never != "3 messages" {
		t.Error(never)
	}
	for _, text := range []string{"Ready\n29", "Unacked\n1", "Scheduled\n1", "Queues\n3", "Connections\n1"} {
		w.sees(text)
	}
	w.until(`/Next: a message is released \(plain\) in 1\d:/.test(document.body.innerText)`)
	countdown := "document.querySelector('.countdown').textContent"
	w.until(fmt.Sprintf("%s !== %q", countdown, eval[string](w, countdown)))
	bar := "[...document.querySelectorAll('.strip a')].find((a) => a.getAttribute('aria-label') === '1 queue, 1 d to 7 d: queue ends. Show the queues.')"
	_ = eval[bool](w, "("+bar+".focus(), true)")
	w.do(chromedp.KeyEvent(kb.Enter))
	w.sees("queue ends within 7 d")
	w.until("document.querySelectorAll('.items tbody tr').length === 1")
	if got := w.rows("name"); !slices.Equal(got, []string{"leased"}) {
		t.Error(got)
	}
	b.request("PUT", "/api/disk-free-limit", `{"absolute":"900000GB"}`, 204)
	w.click("nav a", "Now")
	w.sees("Publishers are blocked.")
}

// Paging, sorting and filtering are done by the server; the address contains all parameters.
func TestPageQueues(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	c := b.dial()
	for i := range 120 {
		c.queue(fmt.Sprintf("q%03d", i), nil)
	}
	c.send("q077", "a", "b")
	c.send("q008", "a")
	c.put("", "q100", amqp.Publishing{Expiration: "500000"})
	c.put("", "q050", amqp.Publishing{Expiration: "300000"})
	w := br.open(b, "#/queues").asGuest()
	names := func(n int, first string) {
		t.Helper()
		w.until(fmt.Sprintf("document.querySelectorAll('.items tbody tr').length === %d && document.querySelector('.items tbody [data-column=name]').textContent === %q", n, first))
	}
	at := func(want string) {
		t.Helper()
		w.until(fmt.Sprintf("decodeURIComponent(location.hash) === %q", want))
	}
	names(50, "q000")
	w.sees("1–50 of 120")
	w.click("button", "›")
	names(50, "q050")
	w.click("button", "›")
	names(20, "q100")
	at("#/queues?page=3")
	w.click("thead button", "Ready")
	names(50, "q077")
	at("#/queues?sort=ready&desc=1")
	w.do(chromedp.Reload())
	names(50, "q077")
	_ = eval[bool](w, "(history.back(), true)")
	names(20, "q100")
	_ = eval[bool](w, "(history.forward(), true)")
	names(50, "q077")
	w.click("thead button", "Next expiry") // only queues with a deadline
	names(2, "q050")
	w.sees("only queues with messages that expire")
	w.click("nav a", "Queues")
	names(50, "q000")
	w.fill("input[type=search]", "Q00[37]$")
	w.sees("No queue matches.")
	_ = eval[bool](w, "(document.querySelector('.tools .check input').click(), true)")
	names(2, "q003")
	at("#/queues?name=Q00[37]$&regex=1")
	w.fill("input[type=search]", "")
	names(50, "q000")
	_ = eval[bool](w, "(document.querySelector('.choice select').value = '600000', document.querySelector('.choice select').dispatchEvent(new Event('change')), true)")
	names(2, "q050")
	at("#/queues?regex=1&expires_within=600000")
	w.click(".chips button", "messages expire within 10 min ×")
	names(50, "q000")
	t.Run("columns", func(t *testing.T) { columnsOfQueues(w) })
	t.Run("keyboard", func(t *testing.T) { queuesByKeyboard(w, names) })
	t.Run("several", func(t *testing.T) { severalQueues(w, b, names) })
}

// columnsOfQueues selects columns.
func columnsOfQueues(w *tab) {
	w.Helper()
	_ = eval[bool](w, "([...document.querySelectorAll('.choice input')].find((e) => e.value === 'operator').click(), true)")
	w.until("[...document.querySelectorAll('thead th')].some((e) => e.textContent === 'Operator policy')")
	_ = eval[bool](w, "([...document.querySelectorAll('.choice input')].find((e) => e.value === 'ready').click(), true)")
	w.until("![...document.querySelectorAll('thead th')].some((e) => e.textContent === 'Ready')")
	w.do(chromedp.Reload())
	w.until("[...document.querySelectorAll('thead th')].some((e) => e.textContent === 'Operator policy')")
	w.click("nav a", "Queues")
	w.until("[...document.querySelectorAll('thead th')].some((e) => e.textContent === 'Ready')")
}

// queuesByKeyboard operates the page with the keyboard only.
func queuesByKeyboard(w *tab, names func(int, string)) {
	w.Helper()
	_ = eval[bool](w, "(document.querySelector('input[type=search]').focus(), true)")
	focused := func() string {
		return eval[string](w, "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent)")
	}
	var order []string
	for range 8 {
		w.do(chromedp.KeyEvent(kb.Tab))
		order = append(order, focused())
	}
	if got := strings.Join(order, ", "); got != ", Filters, Columns, Queues, Select all rows of this page, Name, Ready, Unacked" {
		w.Error(got)
	}
	w.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter)) // one direction, the other one, unsorted
	w.do(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(kb.ModifierShift)), chromedp.KeyEvent(kb.Enter))
	names(50, "q077")
	if got := focused(); got != "Ready" {
		w.Errorf("the focus went to %q", got)
	}
	if outline := eval[string](w, "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"); outline != "solid2px" {
		w.Errorf("the focus is not seen: %s", outline)
	}
	w.click("nav a", "Queues")
	names(50, "q000")
	_ = eval[bool](w, "(document.querySelector('.tools summary').focus(), true)")
	w.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	w.until("document.querySelector('.tools details').open")
	w.do(chromedp.KeyEvent(kb.Escape))
	if got := focused(); got != "Filters" || eval[bool](w, "document.querySelector('.tools details').open") {
		w.Errorf("the focus went to %q", got)
	}
}

// severalQueues sets a policy for several queues, purges and deletes them.
func severalQueues(w *tab, b *broker, names func(int, string)) {
	w.Helper()
	only := func(name string, n int) {
		w.Helper()
		w.fill("input[type=search]", name)
		names(n, name+"0"[:min(1, n-1)])
		_ = eval[bool](w, "(document.querySelector('thead input').checked || document.querySelector('thead input').click(), true)")
	}
	only("q07", 10)
	w.sees("10 queues selected, 2 messages")
	w.click("button", "Set policy…")
	w.fill("dialog input[name=name]", "short <b>")
	w.fill("dialog textarea", `{"message-ttl": `)
	w.click("dialog button", "Preview")
	w.sees("The definition is not JSON")
	w.fill("dialog textarea", `{"message-ttl": -1}`)
	w.refused = append(w.refused, "preview")
	w.click("dialog button", "Preview")
	w.sees("Validation failed")
	w.fill("dialog textarea", `{"max-length": 1}`)
	w.click("dialog button", "Preview")
	w.sees("Applies to 10 queues.")
	w.sees("Dropped at once by the length limit: ")
	w.shoot("policy-dialog")
	w.click("dialog button", "Set policy")
	w.until("document.querySelector('dialog') === null")
	w.until("[...document.querySelectorAll('[data-column=policy]')].every((e) => e.textContent === 'short <b>')")
	if got := b.request("GET", "/api/queues/%2F/q077?columns=policy,messages", "", 200); got != `{"messages":1,"policy":"short <b>"}` {
		w.Error(got)
	}
	w.click("button", "Purge…")
	w.sees("Ready messages are dropped")
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until("document.querySelector('dialog') === null")
	w.click("button", "Purge…")
	w.click("dialog button", "Purge")
	w.until("document.querySelector('dialog') === null")
	w.sees("10 queues selected, 0 messages")
	only("q00", 10)
	w.refused = append(w.refused, "q008")
	w.click("button", "Delete…")
	w.shoot("delete-dialog")
	w.click("dialog button", "Delete")
	w.sees("1 queue of 10 refused:") // one queue is not empty
	w.sees("q008: ")
	w.click("dialog button", "Close")
	names(1, "q008")
}

// hostile are names that would be markup, scripts or addresses if they were not escaped.
var hostile = []string{
	`<img src=x onerror=window.hacked=1>`, `"><script>window.hacked=1</script>`, `'onmouseover='window.hacked=1`, `javascript:window.hacked=1`, `</title><svg onload=window.hacked=1>`,
	`{{constructor.constructor("window.hacked=1")()}}`, `${window.hacked=1}`, `<iframe srcdoc="<script>parent.hacked=1</script>">`, `<a href=//evil.example>x</a>`, `&lt;b&gt;`, `../../api/users`,
	`%3Cscript%3E`, "\u202Eeman\u202C", `#/queues?x=1`, `<style>*{display:none}</style>`, `name with  two spaces`, `\u003cscript\u003e`, `-->`, `]]>`, `__proto__`, `constructor`,
}

// onlyText asserts that no hostile text was parsed as markup or run. more are selectors of further elements that the page itself
// does not contain.
func (w *tab) onlyText(more ...string) {
	w.Helper()
	wrong := strings.Join(append(more, "main img", "main script", "main iframe", "main style", "main b b", "main i", "header b", "header u"), ", ")
	if found := eval[string](w, fmt.Sprintf("'hacked' in window ? 'a script ran' : document.querySelector(%q)?.outerHTML ?? ''", wrong)); found != "" {
		w.Errorf("taken for markup: %s", found)
	}
}

// Names are shown as text everywhere.
func TestPagesShowText(t *testing.T) {
	t.Parallel()
	br, b := newBrowser(t), start(t)
	const vhost = `<b onclick=window.hacked=1>v</b>`
	b.request("PUT", "/api/vhosts/"+url.PathEscape(vhost), "{}", 201)
	b.request("PUT", "/api/users/"+url.PathEscape(hostile[0]), `{"password":"p","tags":"administrator,`+`<u>tag</u>"}`, 201)
	for _, in := range []string{"/", vhost} {
		b.request("PUT", "/api/permissions/"+url.PathEscape(in)+"/"+url.PathEscape(hostile[0]), `{"configure":".*","write":".*","read":".*"}`, 201)
	}
	b.request("PUT", "/api/policies/%2F/"+url.PathEscape(hostile[1]), `{"pattern":".*","definition":{"max-length":5}}`, 201)
	c := b.dial()
	for _, name := range hostile {
		c.queue(name, amqp.Table{"x-expires": int64(90_000_000), "x-" + name: name})
	}
	b.request("PUT", "/api/queues/"+url.PathEscape(vhost)+"/"+url.PathEscape(hostile[2]), "{}", 201)
	w := br.open(b, "#/queues?cols=vhost,policy,features&size=250&name=%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E")
	w.logIn(hostile[0], "p")
	w.until("document.querySelectorAll('.items tbody tr').length === 1")
	w.fill("input[type=search]", "")
	w.until(fmt.Sprintf("document.querySelectorAll('.items tbody tr').length === %d", len(hostile)+1))
	got, want := w.rows("name"), append(slices.Clone(hostile), hostile[2])
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	w.sees(vhost)
	w.sees(hostile[1])
	_ = eval[bool](w, "(document.querySelector('thead input').click(), true)")
	w.click("button", "Purge…")
	w.sees("and 12 more")
	w.do(chromedp.KeyEvent(kb.Escape))
	w.do(chromedp.Navigate(w.url("#/queues?policy=" + url.QueryEscape(hostile[1]) + "&vhost=" + url.QueryEscape(vhost))))
	w.sees("with policy " + hostile[1])
	w.sees("No queue matches.")
	w.do(chromedp.Navigate(w.url("#/__proto__/x"))) // an unknown page: the first one is shown
	w.sees("Next: the queue ends (")
	w.onlyText()
}
