// Package site decides which HTTP requests come from the pages of another site, and which from this machine (ADR 115).
//
// A browser sends what the page of another site asks for: cross-site requests (ACC-8), and, after the name of that site was
// made to resolve to the broker's address, requests that seem to be of the same site (ACC-7). A proxy on this machine
// sends the requests of strangers (ACC-6).
//
// Owns: nothing; each request is judged by its headers and its address.
package site
