package wire

// Outcome is what one store has counted of one skill. A skill's uses and wins
// are the sums over all stores.
type Outcome struct {
	Slug  string `json:"slug"`
	Scope Scope  `json:"scope"`
	// StoreID is the store that counts, in hex.
	StoreID string `json:"store_id"`
	Uses    int64  `json:"uses"`
	Wins    int64  `json:"wins"`
	Envelope
}
