package eventlogtest

import (
	"encoding/json"
	"strconv"

	"pgregory.net/rapid"
)

// drawObject draws a payload of at most depth objects and lists in one another.
func drawObject(t *rapid.T, depth int) map[string]any {
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		object[rapid.StringN(0, 4, 12).Draw(t, "key")] = drawValue(t, depth-1)
	}
	return object
}

func drawValue(t *rapid.T, depth int) any {
	kinds := 8
	if depth <= 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.String().Draw(t, "text")
	case 3:
		return rapid.Int64().Draw(t, "number")
	case 4:
		return json.Number(strconv.FormatInt(rapid.Int64().Draw(t, "number"), 10))
	case 5:
		return rapid.Float64Range(-1e12, 1e12).Draw(t, "fraction")
	case 6:
		return drawObject(t, depth)
	default:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	}
}
