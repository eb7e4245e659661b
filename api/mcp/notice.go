package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fleetsync/fleetd/api"
	"github.com/fleetsync/fleetd/state"
	"github.com/fleetsync/fleetd/state/eventlog"
)

// notify tells the sessions of a server what changes, local or merged, until ctx
// ends: that a resource was updated to those who subscribed to it, and that the
// list changed to all.
func (r resources) notify(ctx context.Context, server *sdk.Server, after int64) {
	list := listNotice{send: func() {
		// To add a template that is there is to say that the list changed.
		server.AddResourceTemplate(r.templates()[0], r.read)
	}}
	defer list.stop()
	for event, err := range r.node.State().Watch(ctx, after) {
		if err != nil {
			if ctx.Err() == nil {
				r.log.Warn("no more notices of changes", "err", err)
			}
			return
		}
		a, isRecord := addressOf(event)
		if !isRecord || !r.allows(a) {
			continue
		}
		for _, uri := range a.names() {
			// It fails for nobody in particular: who is gone needs no notice.
			_ = server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
		list.due()
	}
}

// listNoticeEvery is how long changes of the list are collected for one notice.
// The SDK waits a little more, and from the last change on: without this it would
// never send while writes go on.
const listNoticeEvery = 50 * time.Millisecond

// listNotice collects changes of the list.
type listNotice struct {
	send  func()
	mu    sync.Mutex
	timer *time.Timer // nil when nothing is due
}

func (l *listNotice) due() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		return
	}
	l.timer = time.AfterFunc(listNoticeEvery, func() {
		l.mu.Lock()
		l.timer = nil
		l.mu.Unlock()
		l.send()
	})
}

func (l *listNotice) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
}

// notifying is notify in a goroutine of its own. What it returns ends that, and
// waits for its end.
func (r resources) notifying(ctx context.Context, server *sdk.Server, after int64) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r.any() {
			r.notify(ctx, server, after)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// untilStop is a context that ends when the daemon begins to stop, too.
func untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	stop := api.Stopping(ctx)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// names are the URIs by which a record may be subscribed to.
func (a address) names() []string {
	uri := a.String()
	if a.scheme == schemeSkill {
		return []string{uri, uri[:len(uri)-len(skillFile)]}
	}
	return []string{uri}
}

// addressOf returns which resource an event is about.
func addressOf(e eventlog.Event) (address, bool) {
	switch e.Type {
	case state.EvMemoryWritten, state.EvMemoryDeleted:
		it, err := state.DecodeMemoryItem(e.Payload)
		return address{schemeMemory, it.Scope, it.ID}, err == nil
	case state.EvSkillUpserted, state.EvSkillDeleted:
		sk, err := state.DecodeSkill(e.Payload)
		return address{schemeSkill, sk.Scope, sk.Slug}, err == nil
	}
	return address{}, false
}
