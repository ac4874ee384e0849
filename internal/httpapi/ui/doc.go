// Package ui has the web pages of the broker: static files that are part of the program. They speak to the HTTP API like any
// other client, and know nothing besides (ADR 62).
//
// static/index.html is the page /, all else below static is at /ui. There is no build step and nothing is loaded from
// elsewhere: what stands in static is sent to the browser as it is.
//
//	app.js     begins: who is logged in, the menu, which page is shown
//	api.js     requests, and asking again and again while somebody looks
//	router.js  the address: which page, and its state
//	dom.js     elements; everything that the API tells becomes text, never markup
//	format.js  numbers, bytes, durations, moments
//	table.js   tables that are paged, sorted and filtered by the server; tablestate.js computes what stands in the address
//	chart.js   a chart of lines with the table of its figures; scale.js computes its ticks
//	timeaxis.js, strip.js  the axis from now to never, and what is due along it
//	flowgraph.js  the graph of dead-lettering and forwarding: ladders, cycles, layers
//	openapi.js  the description of the API read
//	message.js, settings.js  what a message tells, which settings of a queue count; actions.js asks, then purges and deletes
//	pages/     one module a page
//
// The modules that only compute are tested by node's test runner (testdata), the pages in a browser by integration/web.
//
// Owns: nothing. Deadlines: none. A restart loses nothing.
package ui
