// Package ui has the web pages of the broker: static files that are part of the program. They speak to the HTTP API
// like any other client, and have no other source (ADR 62).
//
// static/index.html is the page /, all else below static is at /ui. There is no build step and nothing is loaded from
// elsewhere: files in static are sent to the browser unchanged.
//
//	app.js     begins: the login, the menu, the current page
//	api.js     requests, and polling while the page is visible
//	router.js  the address: which page, and its state
//	dom.js     elements; all data of the API becomes text, never markup
//	format.js  numbers, bytes, durations, moments
//	table.js   tables that are paged, sorted and filtered by the server; tablestate.js computes what stands in the address
//	chart.js   a chart of lines with the table of its figures; scale.js computes its ticks
//	timeaxis.js, strip.js  the axis from now to never, and messages due along it
//	flowgraph.js  the graph of dead-lettering and forwarding: ladders, cycles, layers
//	openapi.js  the description of the API read
//	message.js, settings.js  the contents of a message, the effective settings of a queue; actions.js asks, then purges and deletes
//	pages/     one module a page
//
// Pure modules are tested by node's test runner (testdata), the pages in a browser by integration/web.
//
// Owns: nothing. Deadlines: none. A restart loses nothing.
package ui
