package entity

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Component is the component of the parameters that store the Extra of entities, by their paths.
const Component = "servicebus-entity"

// MaxExtras is the maximum number of entities of a virtual host that have an Extra.
const MaxExtras = 10_000

// ParseExtra decodes the value of a parameter. Unknown keys are an error.
func ParseExtra(value []byte) (e Extra, err error) {
	if len(value) > 8<<10 {
		return e, errors.New("the value has more than 8 KiB")
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, fmt.Errorf("the value is not a description of an entity: %w", err)
	}
	if len(e.UserMetadata) > MaxMetadata {
		return e, fmt.Errorf("user_metadata has more than %d bytes", MaxMetadata)
	}
	return e, nil
}

// Kept returns the part of the description that a parameter stores.
func (d *Description) Kept() Extra {
	e := d.Extra
	if e.UnusedWindow = 0; !d.RequiresDuplicateDetection && d.DuplicateDetectionHistoryTimeWindow != DefaultDuplicateHistory {
		e.UnusedWindow = d.DuplicateDetectionHistoryTimeWindow
	}
	if e.TopicIdle, e.TopicMegabytes = 0, 0; d.Kind != Topic {
		return e
	}
	if e.TopicMegabytes = d.MaxSizeInMegabytes; d.AutoDeleteOnIdle < Forever {
		e.TopicIdle = d.AutoDeleteOnIdle
	}
	return e
}

// MaxMessage returns the maximum size of a message that the entity sets, in KiB; 0 for none, as which the value of all entities of the Standard tier counts.
func (e Extra) MaxMessage() int64 {
	if e.MaxMessageSizeInKilobytes <= StandardKilobytes {
		return 0
	}
	return e.MaxMessageSizeInKilobytes
}

// Marshal returns the value of a parameter.
func (e Extra) Marshal() []byte {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err) // cannot fail for these types
	}
	return text
}
