package main

import (
	"net"
	"net/http"
	"testing"
)

// TestFinishAnswers_CLU25: a node that is about to end lets the request that asked for it have its answer.
func TestFinishAnswers_CLU25(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked, answer := make(chan struct{}), make(chan struct{})
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		w.WriteHeader(http.StatusNoContent)
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	got := make(chan error, 1)
	go func() {
		r, err := http.Get("http://" + l.Addr().String())
		if err == nil {
			_ = r.Body.Close()
		}
		got <- err
	}()
	<-asked
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		(&member{idle: []*http.Server{s}}).finishAnswers()
	}()
	<-served // it takes no more requests
	select {
	case <-finished:
		t.Error("it does not wait for the answer")
	default:
	}
	close(answer)
	if err := <-got; err != nil {
		t.Errorf("no answer: %v", err)
	}
	<-finished
}
