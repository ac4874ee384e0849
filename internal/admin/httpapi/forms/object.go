package forms

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"

	"candlemark/internal/text/jsonencode"
	"candlemark/protocol"
)

// Object is the JSON form of a field table: keys in byte order, each once; if a key occurs twice, the first counts.
type Object protocol.Table

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	fields := make(map[string]any, len(o))
	for _, f := range o {
		if _, twice := fields[f.Key]; !twice {
			fields[f.Key] = plain(f.Value)
		}
	}
	return jsonencode.Marshal(fields), nil
}

// plain returns the value of a field for JSON: numbers and times as numbers, bytes as text, NaN and infinity as null.
func plain(v any) any {
	switch v := v.(type) {
	case protocol.Table:
		return Object(v)
	case protocol.Array:
		array := make([]any, len(v))
		for i := range v {
			array[i] = plain(v[i])
		}
		return array
	case []byte:
		return string(v)
	case protocol.Timestamp:
		return uint64(v)
	case protocol.Decimal:
		if v.Scale > plainScale {
			return json.Number(fmt.Sprintf("%de-%d", v.Value, v.Scale))
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Scale)), nil)
		return json.Number(new(big.Rat).SetFrac(big.NewInt(int64(v.Value)), scale).FloatString(int(v.Scale)))
	case float32:
		return finite(float64(v))
	case float64:
		return finite(v)
	default:
		return v
	}
}

// plainScale is the maximum number of digits after the point with which a decimal is written in full.
const plainScale = 20

func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}
