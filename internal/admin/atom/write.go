package atom

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"candlemark/internal/admin/entityadmin"
	"candlemark/internal/routing/filter"
	"candlemark/internal/servicebus/entity"
)

// Namespaces of XML.
const (
	space    = "http://www.w3.org/2005/Atom"
	connect  = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
	counts   = "http://schemas.microsoft.com/netservices/2011/06/servicebus"
	instance = "http://www.w3.org/2001/XMLSchema-instance"
	schema   = "http://www.w3.org/2001/XMLSchema"
)

// ContentType is the content type of entries, FeedType of feeds.
const (
	ContentType = "application/atom+xml;type=entry;charset=utf-8"
	FeedType    = "application/atom+xml;type=feed;charset=utf-8"
)

// writer writes XML.
type writer struct{ bytes.Buffer }

func (w *writer) raw(s string) { w.WriteString(s) }

// escape writes a text, which may also be the value of an attribute. Only what XML requires is escaped: the SDK for JavaScript does not
// understand references to characters by number (SBE-16).
func (w *writer) escape(s string) {
	for _, r := range s {
		switch {
		case r == '&':
			w.raw("&amp;")
		case r == '<':
			w.raw("&lt;")
		case r == '>':
			w.raw("&gt;")
		case r == '"':
			w.raw("&quot;")
		case r == '\r': // otherwise a reader makes it a line feed
			w.raw("&#13;")
		case r < ' ' && r != '\t' && r != '\n', r == 0xfffe, r == 0xffff:
			w.WriteRune(utf8.RuneError) // XML cannot have them
		default:
			w.WriteRune(r)
		}
	}
}

func (w *writer) open(name, attributes string) {
	if attributes != "" {
		name += " " + attributes
	}
	w.raw("<" + name + ">")
}
func (w *writer) shut(name string) { w.raw("</" + name + ">") }

func (w *writer) text(name, value string) {
	w.open(name, "")
	w.escape(value)
	w.shut(name)
}

func (w *writer) number(name string, n int64) { w.text(name, strconv.FormatInt(n, 10)) }
func (w *writer) flag(name string, v bool)    { w.text(name, strconv.FormatBool(v)) }

// optional writes a value unless it is empty.
func (w *writer) optional(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

// orTrue is true for an unset value.
func orTrue(v *bool) bool { return v == nil || *v }

// entry writes an entry around a description. Base is the address of the API, with a slash at its end.
func (w *writer) entry(base, path, name string, updated int64, content func()) {
	w.open("entry", `xmlns="`+space+`"`)
	w.text("id", base+path)
	w.open("title", `type="text"`)
	w.escape(name)
	w.shut("title")
	w.text("published", entity.Moment(updated))
	w.text("updated", entity.Moment(updated))
	w.link("self", base+path)
	w.open("content", `type="application/xml"`)
	content()
	w.shut("content")
	w.shut("entry")
}

func (w *writer) link(rel, href string) {
	w.raw(`<link rel="` + rel + `" href="`)
	w.escape(href)
	w.raw(`"/>`)
}

func (w *writer) entity(base string, e *entityadmin.Entity) {
	w.entry(base, e.Path(), e.Name, e.Updated, func() {
		name := descriptions[e.Kind]
		w.open(name, `xmlns="`+connect+`" xmlns:i="`+instance+`"`)
		switch e.Kind {
		case entity.Queue:
			w.queue(base, e)
		case entity.Topic:
			w.topic(e)
		case entity.Subscription:
			w.subscription(base, e)
		}
		w.shut(name)
	})
}

func megabytes(e *entityadmin.Entity) int64 {
	if e.MaxSizeInMegabytes == 0 {
		return entity.ShownMegabytes(e.EnablePartitioning)
	}
	return e.MaxSizeInMegabytes
}

// address returns the address of an entity that messages are forwarded to, or "" for none: as it was set, or else with the scheme https, or
// sb if it was set with that, as in Service Bus, even if the API is served over another (SBE-9).
func address(base, name, given string, sb bool) string {
	scheme := "https://"
	switch {
	case name == "":
		return ""
	case entity.Same(path(given), name):
		return given
	case sb:
		scheme = sbScheme
	}
	_, host, _ := strings.Cut(base, "://")
	return scheme + host + name
}

func (w *writer) queue(base string, e *entityadmin.Entity) {
	w.text("LockDuration", e.LockDuration.String())
	w.number("MaxSizeInMegabytes", megabytes(e))
	w.flag("RequiresDuplicateDetection", e.RequiresDuplicateDetection)
	w.flag("RequiresSession", e.RequiresSession)
	w.text("DefaultMessageTimeToLive", e.DefaultMessageTimeToLive.String())
	w.flag("DeadLetteringOnMessageExpiration", e.DeadLetteringOnMessageExpiration)
	w.text("DuplicateDetectionHistoryTimeWindow", e.DuplicateDetectionHistoryTimeWindow.String())
	w.number("MaxDeliveryCount", e.MaxDeliveryCount)
	w.flag("EnableBatchedOperations", orTrue(e.EnableBatchedOperations))
	w.number("SizeInBytes", e.Bytes)
	w.number("MessageCount", int64(e.Counts.All()))
	w.flag("IsAnonymousAccessible", false)
	w.keys(e.Keys)
	w.text("Status", string(e.Status))
	w.optional("ForwardTo", address(base, e.ForwardTo, e.ForwardToAddress, e.ForwardToSB))
	w.optional("UserMetadata", e.UserMetadata)
	w.moments(e)
	w.flag("SupportOrdering", orTrue(e.SupportOrdering))
	w.counts(e)
	w.text("AutoDeleteOnIdle", e.AutoDeleteOnIdle.String())
	w.flag("EnablePartitioning", e.EnablePartitioning)
	w.text("EntityAvailabilityStatus", "Available")
	w.flag("EnableExpress", e.EnableExpress)
	w.optional("ForwardDeadLetteredMessagesTo", address(base, e.ForwardDeadLetteredMessagesTo, e.ForwardDeadLettersAddress, e.ForwardDeadLettersSB))
	w.kilobytes(e)
}

func (w *writer) topic(e *entityadmin.Entity) {
	w.text("DefaultMessageTimeToLive", e.DefaultMessageTimeToLive.String())
	w.number("MaxSizeInMegabytes", megabytes(e))
	w.flag("RequiresDuplicateDetection", e.RequiresDuplicateDetection)
	w.text("DuplicateDetectionHistoryTimeWindow", e.DuplicateDetectionHistoryTimeWindow.String())
	w.flag("EnableBatchedOperations", orTrue(e.EnableBatchedOperations))
	w.number("SizeInBytes", e.Bytes)
	w.flag("FilteringMessagesBeforePublishing", false)
	w.flag("IsAnonymousAccessible", false)
	w.keys(e.Keys)
	w.text("Status", string(e.Status))
	w.optional("UserMetadata", e.UserMetadata)
	w.moments(e)
	w.flag("SupportOrdering", orTrue(e.SupportOrdering))
	w.counts(e)
	w.number("SubscriptionCount", int64(e.Subscriptions))
	w.text("AutoDeleteOnIdle", e.AutoDeleteOnIdle.String())
	w.flag("EnablePartitioning", e.EnablePartitioning)
	w.text("EntityAvailabilityStatus", "Available")
	w.flag("EnableSubscriptionPartitioning", false)
	w.flag("EnableExpress", e.EnableExpress)
	w.kilobytes(e)
	w.number("SqlFilterCount", int64(e.SQLFilters))
	w.number("CorrelationFilterCount", int64(e.CorrelationFilters))
}

func (w *writer) subscription(base string, e *entityadmin.Entity) {
	w.text("LockDuration", e.LockDuration.String())
	w.flag("RequiresSession", e.RequiresSession)
	w.text("DefaultMessageTimeToLive", e.DefaultMessageTimeToLive.String())
	w.flag("DeadLetteringOnMessageExpiration", e.DeadLetteringOnMessageExpiration)
	w.flag("DeadLetteringOnFilterEvaluationExceptions", orTrue(e.DeadLetteringOnFilterEvaluationExceptions))
	w.number("MessageCount", int64(e.Counts.All()))
	w.number("MaxDeliveryCount", e.MaxDeliveryCount)
	w.flag("EnableBatchedOperations", orTrue(e.EnableBatchedOperations))
	w.text("Status", string(e.Status))
	w.optional("ForwardTo", address(base, e.ForwardTo, e.ForwardToAddress, e.ForwardToSB))
	w.moments(e)
	w.optional("UserMetadata", e.UserMetadata)
	w.counts(e)
	w.text("AutoDeleteOnIdle", e.AutoDeleteOnIdle.String())
	w.text("EntityAvailabilityStatus", "Available")
	w.optional("ForwardDeadLetteredMessagesTo", address(base, e.ForwardDeadLetteredMessagesTo, e.ForwardDeadLettersAddress, e.ForwardDeadLettersSB))
}

func (w *writer) moments(e *entityadmin.Entity) {
	w.text("CreatedAt", entity.Moment(e.Created))
	w.text("UpdatedAt", entity.Moment(e.Updated))
	w.text("AccessedAt", entity.Moment(e.Accessed))
}

func (w *writer) kilobytes(e *entityadmin.Entity) {
	if e.MaxMessageSizeInKilobytes > 0 {
		w.number("MaxMessageSizeInKilobytes", e.MaxMessageSizeInKilobytes)
	}
}

// counts writes the counts, which have a namespace of their own. Messages that cannot be forwarded count as waiting to
// be forwarded.
func (w *writer) counts(e *entityadmin.Entity) {
	w.open("CountDetails", `xmlns:d2p1="`+counts+`"`)
	for _, one := range [...]struct {
		name  string
		count int
	}{
		{"ActiveMessageCount", e.Counts.Active},
		{"DeadLetterMessageCount", e.Counts.DeadLetters},
		{"ScheduledMessageCount", e.Counts.Scheduled},
		{"TransferMessageCount", e.Counts.Transfers},
		{"TransferDeadLetterMessageCount", 0},
	} {
		w.number("d2p1:"+one.name, int64(one.count))
	}
	w.shut("CountDetails")
}

// Entry writes an entity. Base is the address of the API, with a slash at its end.
func Entry(base string, e *entityadmin.Entity) []byte {
	var w writer
	w.entity(base, e)
	return w.Bytes()
}

// RuleEntry writes a rule of a subscription with that path.
func RuleEntry(base, subscription string, r *filter.Rule) []byte {
	var w writer
	w.ruleEntry(base, subscription, r)
	return w.Bytes()
}

func (w *writer) ruleEntry(base, subscription string, r *filter.Rule) {
	w.entry(base, subscription+"/"+entity.Rules+"/"+r.Name, r.Name, 0, func() { w.rule("RuleDescription", r) })
}

// List is a page of a list of entities, or of rules of a subscription.
type List struct {
	Title, Base  string
	At           int64  // ms since 1970
	Self, Next   string // addresses of this page and of the next one; "" if there is none
	Entities     []entityadmin.Entity
	Subscription string // the path of the subscription of the rules
	Rules        []filter.Rule
}

// Feed writes a page of a list (SBE-16).
func Feed(l *List) []byte {
	var w writer
	w.open("feed", `xmlns="`+space+`"`)
	w.open("title", `type="text"`)
	w.escape(l.Title)
	w.shut("title")
	w.text("id", l.Self)
	w.text("updated", entity.Moment(l.At))
	w.link("self", l.Self)
	if l.Next != "" {
		w.link("next", l.Next)
	}
	for i := range l.Entities {
		w.entity(l.Base, &l.Entities[i])
	}
	for i := range l.Rules {
		w.ruleEntry(l.Base, l.Subscription, &l.Rules[i])
	}
	w.shut("feed")
	return w.Bytes()
}

// Namespace writes the description of the namespace, of the Premium tier or of Standard.
func Namespace(base, name string, premium bool, at int64) []byte {
	var w writer
	tier := "Standard"
	if premium {
		tier = "Premium"
	}
	w.entry(base, "$namespaceinfo", name, at, func() {
		w.open("NamespaceInfo", `xmlns="`+connect+`" xmlns:i="`+instance+`"`)
		w.text("CreatedTime", entity.Moment(at))
		w.text("MessagingSKU", tier)
		if premium {
			w.number("MessagingUnits", 1)
		}
		w.text("ModifiedTime", entity.Moment(at))
		w.text("Name", name)
		w.text("NamespaceType", "Messaging")
		w.shut("NamespaceInfo")
	})
	return w.Bytes()
}

// Failure writes an error.
func Failure(status int, text string, at time.Time) []byte {
	var w writer
	w.open("Error", "")
	w.number("Code", int64(status))
	w.text("Detail", text+" Timestamp:"+at.UTC().Format(time.RFC3339))
	w.shut("Error")
	return w.Bytes()
}
