package node

import (
	"context"
	"errors"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/store"
	fleetsync "github.com/fleetsync/fleetd/sync"
)

// gossipCheck judges gossip before it is forwarded: the cheap questions first,
// the signatures last.
type gossipCheck struct {
	self      peer.ID
	fleet     merge.FleetID
	gater     *gater
	admission *admission
	store     *store.Store
	verify    *signatures
}

// validate is a pubsub.ValidatorEx. A message whose records are all known is
// ignored, so that a replayed one goes nowhere; one that breaks the rules is
// rejected, which counts against the peer that passed it on. What it accepts
// carries its decoded form.
func (c *gossipCheck) validate(ctx context.Context, from peer.ID, m *pubsub.Message) pubsub.ValidationResult {
	if from == c.self {
		return pubsub.ValidationAccept
	}
	if !c.gater.welcome(from) {
		return pubsub.ValidationIgnore
	}
	batch, err := fleetsync.DecodeGossip(m.GetData(), c.fleet, state.Indexer{}.EventType)
	switch {
	case errors.Is(err, merge.ErrUnsupported): // for later builds, which others may run
		return pubsub.ValidationIgnore
	case err != nil:
		return pubsub.ValidationReject
	}
	for _, r := range batch.Records {
		if c.admission.Check(r) != nil || fleetsync.Topic(c.fleet, r.Key.Family()) != m.GetTopic() {
			return pubsub.ValidationReject
		}
	}
	news, err := c.news(batch.Records)
	if err != nil || len(news)+len(batch.Announced) == 0 {
		return pubsub.ValidationIgnore
	}
	// All of them: the message goes on as a whole, and others, who may lack what
	// is known here, count a bad signature against whoever passed it on.
	ok := c.verify.check(ctx, batch.Records)
	if ok == nil {
		return pubsub.ValidationIgnore
	}
	for _, good := range ok {
		if !good {
			return pubsub.ValidationReject
		}
	}
	batch.Records = news
	m.ValidatorData = batch
	return pubsub.ValidationAccept
}

// news returns the records that are neither held, covered nor parked here.
func (c *gossipCheck) news(records []*merge.Record) (news []*merge.Record, err error) {
	err = c.store.View(func(r *store.Reader) error {
		for _, rec := range records {
			known, err := fleetsync.Known(r, rec.Key, rec.Version())
			if err != nil {
				return err
			}
			if !known {
				news = append(news, rec)
			}
		}
		return nil
	})
	return news, err
}
