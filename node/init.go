package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/fleetsync/fleetd/fleet"
	"github.com/fleetsync/fleetd/hlc"
	"github.com/fleetsync/fleetd/merge"
	"github.com/fleetsync/fleetd/store"
)

// InitConfig says what fleet to begin.
type InitConfig struct {
	// Dir is where the instance will live; it must not hold anything yet.
	Dir string
	// Name is what the fleet calls this instance; see fleet.ValidateName.
	Name string
	// Listen are the addresses for config.yaml; nil chooses one free port for
	// TCP and QUIC on all IPv4 interfaces.
	Listen []string
	// StoreKind is the engine below the store; empty means badger.
	StoreKind StoreKind
	// Now is as in Config.
	Now func() time.Time
}

// Instance is what Init and Join made.
type Instance struct {
	ID    merge.InstanceID
	Fleet merge.FleetID
	// Name is what the fleet calls the instance.
	Name string
	// Dir is the absolute path of the data directory.
	Dir string
	// Listen are the addresses that config.yaml names.
	Listen []string
	// ClockBehind is how far this machine's clock was behind the inviter's when
	// it joined, negative when ahead, by what the inviter told; 0 for Init.
	ClockBehind time.Duration
}

// Init begins a fleet: it makes the root key, an instance, and root's grant
// that makes it the first admin. Nothing is left when it fails. Errors:
// ErrAlreadyInitialised, ErrNotEmpty, ErrInUse, ErrConfig, fleet.ErrName.
func Init(ctx context.Context, cfg InitConfig) (Instance, error) {
	if err := fleet.ValidateName(cfg.Name); err != nil {
		return Instance{}, err
	}
	root, err := fleet.NewIdentity(rand.Reader)
	if err != nil {
		return Instance{}, fmt.Errorf("node: make the root key: %w", err)
	}
	s, err := stage(cfg.Dir, rand.Reader)
	if err != nil {
		return Instance{}, err
	}
	made := newInstance{
		staging: s, name: cfg.Name, fleet: fleet.FleetIDOf(root.Public()), listen: cfg.Listen, kind: cfg.StoreKind,
		now: cfg.Now,
	}
	clock := (&Config{Now: cfg.Now}).clock()
	stamp, err := hlc.NewClock(clock, hlc.Timestamp{}).Now()
	if err == nil {
		var grant merge.Record
		grant, err = fleet.SealGrant(made.fleet, root, fleet.Grant{Member: s.key.ID(), Name: cfg.Name, Role: fleet.RoleAdmin}, stamp)
		made.statements = [][]byte{grant.Encode()}
	}
	if err == nil {
		err = writeFile(s.rootFile(), root.Bytes())
	}
	if err != nil {
		s.discard()
		return Instance{}, err
	}
	return made.finish(ctx)
}

// newInstance is a staged data directory and what shall be in it.
type newInstance struct {
	*staging
	name       string
	fleet      merge.FleetID
	statements [][]byte
	peers      []bookEntry
	listen     []string
	kind       StoreKind
	now        func() time.Time // nil is that of the system
}

// finish writes configuration and store and puts the directory in its place,
// or removes it.
func (n *newInstance) finish(ctx context.Context) (Instance, error) {
	err := n.write(ctx)
	if err == nil {
		err = n.commit()
	}
	if err != nil {
		n.discard()
		return Instance{}, err
	}
	return Instance{ID: n.key.ID(), Fleet: n.fleet, Name: n.name, Dir: n.target, Listen: n.listen}, nil
}

func (n *newInstance) write(ctx context.Context) error {
	cfg := DefaultConfig()
	cfg.Dir, cfg.Now = string(n.layout), n.now
	if n.kind != "" {
		cfg.StoreKind = n.kind
	}
	if n.listen == nil {
		listen, err := freeListen(ctx)
		if err != nil {
			return err
		}
		n.listen = listen
	}
	cfg.Listen = n.listen
	if err := cfg.Validate(); err != nil {
		return err
	}
	if err := writeFile(n.configFile(), cfg.render()); err != nil {
		return err
	}
	s := &seed{Owner: owner{Instance: n.key.ID(), Fleet: n.fleet[:]}, Statements: n.statements, Peers: n.peers}
	if cfg.StoreKind == StoreMemory {
		return s.keep(n.layout)
	}
	st, err := openStore(&cfg, func(store.Commit) {}, nil)
	if err != nil {
		return err
	}
	err = s.plant(ctx, st)
	if closed := st.Close(); err == nil && closed != nil {
		err = fmt.Errorf("node: close the new store: %w", closed)
	}
	return err
}

// freeListen chooses a port that is free for TCP and UDP on all interfaces.
func freeListen(ctx context.Context) ([]string, error) {
	var failed error
	for range portTries {
		port, err := freePort(ctx)
		if err == nil {
			p := strconv.Itoa(port)
			return []string{"/ip4/0.0.0.0/tcp/" + p, "/ip4/0.0.0.0/udp/" + p + "/quic-v1"}, nil
		}
		failed = err
	}
	return nil, fmt.Errorf("node: find a free port: %w", failed)
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	tcp, err := lc.Listen(ctx, "tcp4", "0.0.0.0:0")
	if err != nil {
		return 0, err
	}
	defer tcp.Close() //nolint:errcheck // it was only a question
	port := tcp.Addr().(*net.TCPAddr).Port
	udp, err := lc.ListenPacket(ctx, "udp4", "0.0.0.0:"+strconv.Itoa(port))
	if err != nil {
		return 0, err
	}
	return port, udp.Close()
}
