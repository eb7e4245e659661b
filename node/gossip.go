package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/errgroup"

	"github.com/fleetsync/fleetd/merge"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// gossip is the publish-subscribe half of fleetsync.Transport. Messages are not
// signed by their senders, since each record proves its writer; a message is
// known by its content. Nothing depends on gossip.
type gossip struct {
	host   host.Host
	gater  *gater
	scores *scores
	check  *gossipCheck
	loop   *loop
	log    *slog.Logger
	topics []string

	queue  chan fleetsync.Publish
	counts gossipCounts
	// router is nil before Run.
	router atomic.Pointer[pubsub.PubSub]
}

// gossipCounts count messages since the start, and connections made anew for want
// of them.
type gossipCounts struct {
	published, renewed, tooLarge, queueFull, undelivered, unread, rejected, ignored, throttled atomic.Uint64
}

// Publish queues a message, or drops it.
func (g *gossip) Publish(topic string, data []byte) {
	if len(data) > fleetsync.GossipBytesMax {
		// The router would drop it without a word.
		g.counts.tooLarge.Add(1)
		return
	}
	select {
	case g.queue <- fleetsync.Publish{Topic: topic, Data: data}:
	default:
		g.counts.queueFull.Add(1)
	}
}

// Run gossips until ctx ends. ready is called once this node is subscribed.
func (g *gossip) Run(ctx context.Context, ready func()) error {
	group, ctx := errgroup.WithContext(ctx)
	router, err := pubsub.NewGossipSub(ctx, g.host, g.options()...)
	if err != nil {
		return fmt.Errorf("node: start gossip: %w", err)
	}
	topics := map[string]*pubsub.Topic{}
	for _, name := range g.topics {
		topic, err := router.Join(name)
		if err != nil {
			return fmt.Errorf("node: join topic %s: %w", name, err)
		}
		topics[name] = topic
		sub, err := topic.Subscribe(pubsub.WithBufferSize(publishQueueMax), pubsub.WithMessageFilter(g.isForeign))
		if err != nil {
			return fmt.Errorf("node: subscribe to %s: %w", name, err)
		}
		group.Go(func() error { return g.read(ctx, sub) })
	}
	g.router.Store(router)
	group.Go(func() error { return g.publish(ctx, topics) })
	ready()
	return group.Wait()
}

// options are the settings of gossipsub; each has its reason here or in
// limits.go.
func (g *gossip) options() []pubsub.Option {
	params := pubsub.DefaultGossipSubParams()
	// Fewer than the usual 5 count as enough, so that a fleet of three or four
	// is not for ever looking for more.
	params.Dlo = 4
	return []pubsub.Option{
		pubsub.WithGossipSubParams(params),
		// Without it what is published before the first heartbeat is lost.
		pubsub.WithFloodPublish(true),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign),
		pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(messageID),
		pubsub.WithPeerExchange(false),
		pubsub.WithPeerOutboundQueueSize(publishQueueMax),
		pubsub.WithValidateQueueSize(publishQueueMax),
		pubsub.WithValidateWorkers(gossipWorkers),
		pubsub.WithDefaultValidator(g.check.validate, pubsub.WithValidatorInline(true)),
		pubsub.WithSubscriptionFilter(pubsub.WrapLimitSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(g.topics...), subscriptionsMax)),
		pubsub.WithPeerFilter(func(p peer.ID, _ string) bool { return g.gater.welcome(p) }),
		pubsub.WithAppSpecificRpcInspector(g.inspect),
		pubsub.WithPeerScore(g.scoreParams()),
		pubsub.WithRawTracer(&gossipTracer{counts: &g.counts}),
		pubsub.WithLogger(g.log),
		pubsub.WithRPCLogger(slog.New(slog.DiscardHandler)),
	}
}

// messageID names a message by its content, as it must be without authors.
func messageID(m *pb.Message) string {
	sum := sha256.Sum256(m.GetData())
	return string(sum[:20])
}

var errStranger = errors.New("node: not a member")

// inspect drops everything that comes from strangers, subscriptions included,
// so that they are not sent anything either.
func (g *gossip) inspect(p peer.ID, _ *pubsub.RPC) error {
	if !g.gater.welcome(p) {
		return errStranger
	}
	return nil
}

func (g *gossip) isForeign(m *pubsub.Message) bool { return m.ReceivedFrom != g.host.ID() }

// scoreParams are mild: messages that no honest build sends weigh, silence and
// slowness do not, since small fleets are quiet.
func (g *gossip) scoreParams() (*pubsub.PeerScoreParams, *pubsub.PeerScoreThresholds) {
	topics := map[string]*pubsub.TopicScoreParams{}
	for _, name := range g.topics {
		topics[name] = &pubsub.TopicScoreParams{
			SkipAtomicValidation: true, TopicWeight: 1,
			InvalidMessageDeliveriesWeight: -1, InvalidMessageDeliveriesDecay: 0.9,
			TimeInMeshQuantum: time.Second, // of no weight, but divided by
		}
	}
	params := &pubsub.PeerScoreParams{
		SkipAtomicValidation: true, Topics: topics,
		AppSpecificScore:  func(p peer.ID) float64 { return float64(g.scores.strikes(p, time.Now())) },
		AppSpecificWeight: -5,
		DecayInterval:     time.Second, DecayToZero: 0.01, RetainScore: time.Minute,
	}
	return params, &pubsub.PeerScoreThresholds{GossipThreshold: -20, PublishThreshold: -50, GraylistThreshold: -100}
}

// publish sends what is queued.
func (g *gossip) publish(ctx context.Context, topics map[string]*pubsub.Topic) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case p := <-g.queue:
			topic := topics[p.Topic]
			if topic == nil {
				continue
			}
			if err := topic.Publish(ctx, p.Data); err != nil && ctx.Err() == nil {
				g.log.Warn("gossip not published", "topic", p.Topic, "err", err)
				continue
			}
			g.counts.published.Add(1)
		}
	}
}

// read hands what was validated to the engine.
func (g *gossip) read(ctx context.Context, sub *pubsub.Subscription) error {
	defer sub.Cancel()
	for {
		m, err := sub.Next(ctx)
		if err != nil {
			return nil // the end of ctx, or of the router, which ends with it
		}
		batch, ok := m.ValidatorData.(fleetsync.GossipBatch)
		if !ok {
			continue
		}
		from := merge.InstanceID(m.ReceivedFrom)
		if g.loop.do(ctx, func(e *fleetsync.Engine) { e.Gossip(from, batch) }) != nil {
			return nil
		}
	}
}

// speaks reports whether a peer gossips at all.
func (g *gossip) speaks(p peer.ID) bool {
	known, err := g.host.Peerstore().SupportsProtocols(p, pubsub.GossipSubDefaultProtocols...)
	return err == nil && len(known) > 0
}

// hears reports whether a peer is in one of this node's topics at least.
func (g *gossip) hears(p peer.ID) bool {
	router := g.router.Load()
	if router == nil {
		return true
	}
	for _, name := range g.topics {
		for _, member := range router.ListPeers(name) {
			if member == p {
				return true
			}
		}
	}
	return false
}
