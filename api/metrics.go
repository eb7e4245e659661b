package api

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metricsTimeout is how long one scrape may take.
const metricsTimeout = 10 * time.Second

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
