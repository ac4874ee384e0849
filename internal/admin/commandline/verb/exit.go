package verb

import (
	"errors"
	"net/http"

	"candlemark/internal/admin/httpapi/client"
)

// Exit codes, as rabbitmqctl uses them (POL-18).
const (
	ExitUsage       = 64 // the command line is wrong
	ExitData        = 65 // it names something that does not exist
	ExitNoUser      = 67 // it names a user that does not exist
	ExitUnavailable = 69 // the broker refuses, or is not there
	ExitSoftware    = 70 // what was asked for cannot be done
	ExitTempFail    = 75 // the broker did not answer in time
)

// Exit is a failure with what rabbitmqctl says about it, and its exit code.
type Exit struct {
	Code int
	text string
}

// Error implements error.
func (e *Exit) Error() string { return e.text }

// Fail returns a failure with an exit code.
func Fail(code int, text string) *Exit { return &Exit{code, text} }

// Complaint is about what the broker has, or has not.
func Complaint(text string) *Exit { return Fail(ExitUnavailable, text) }

// Misuse returns a complaint for which rabbitmqctl blames the command line.
func Misuse(text string) *Exit { return Fail(ExitUsage, text) }

// FailedCheck is the finding of a check that failed, without a title.
type FailedCheck string

// Error implements error.
func (v FailedCheck) Error() string { return string(v) }

// IsMissing reports whether the requested object does not exist.
func IsMissing(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// Missing is err, or what the broker says is not there.
func Missing(err error) error {
	if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == "not_found" {
		return Fail(ExitData, refused.Reason)
	}
	return err
}
