package api

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fleetsync/fleetd/state"
)

// OpenAPI returns the description of the API, an OpenAPI 3.1 document in JSON:
// what /openapi.json answers where there are metrics, without a daemon.
func OpenAPI() ([]byte, error) {
	provider := state.NewMemory()
	replica, isReplica := provider.(state.Replica)
	if !isReplica {
		return nil, fmt.Errorf("api: a provider in memory is a %T", provider)
	}
	document := newHandler(undone{state: replica}, Config{Metrics: prometheus.NewRegistry()}).openapi
	return document, provider.Close()
}

// undone is a backend that nobody asks for anything.
type undone struct {
	Backend
	state state.Replica
}

func (u undone) State() state.Replica { return u.state }
