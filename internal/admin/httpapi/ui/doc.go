// Package ui contains the web pages of the broker: static files inside the program. They speak to the HTTP API like any
// other client, and have no other source (ADR 62).
//
// static/index.html is the page /, all else below static is at /ui. There is no build step and nothing is loaded from
// elsewhere: files in static are sent to the browser unchanged.
//
//	app.js     begins: the login, the menu, the current page
//	api.js     requests, and polling while the page is visible; eventstream.js parses server-sent events
//	router.js  which page the address means; address.js parses and makes addresses
//	dom.js     elements; all data of the API becomes text, never markup
//	format.js  numbers, bytes, durations, moments
//	table.js   tables paged, sorted and filtered by the server; tablestate.js computes their state in the address
//	list.js    lists with a page for each item
//	clockbar.js  the bar of a broker with a test clock
//	chart.js   a chart of lines with the table of its figures; scale.js computes its ticks
//	timeaxis.js, strip.js  the axis from now to never, and messages due along it
//	flowgraph.js  the graph of dead-lettering and forwarding: ladders, cycles, layers
//	openapi.js  reads the description of the API
//	message.js, settings.js  the contents of a message, the effective settings of a queue; actions.js asks, then purges and deletes
//	policy.js, policyeditor.js  the effects of policies as text, and dialogs that change policies
//	pages/     one module a page
//
// Pure modules are tested by node's test runner (testdata), the pages in a browser by integration/web.
//
// Owns: nothing. Deadlines: none. A restart loses nothing.
package ui
