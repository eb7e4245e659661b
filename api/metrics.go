package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsTimeout is how long one scrape may take.
const metricsTimeout = 10 * time.Second

// metrics serves /metrics.
type metrics struct{ handler http.Handler }

func (m metrics) register(h *handler) {
	register(h, operation{
		route: "GET /metrics", id: "metrics", tag: "daemon", summary: "Metrics in the text form of Prometheus",
		responses: map[string]*huma.Response{"200": {
			Description: "The metrics.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, m.get)
}

type metricsOutput struct{ Body func(huma.Context) }

func (m metrics) get(context.Context, *struct{}) (*metricsOutput, error) {
	return &metricsOutput{func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		m.handler.ServeHTTP(w, r)
	}}, nil
}

// metricsHandler shows metrics in the text form of Prometheus. What cannot be
// collected is logged, and the rest is shown: a node in trouble is when somebody
// looks.
func metricsHandler(from prometheus.Gatherer, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 2,
		Timeout:             metricsTimeout,
	})
}
