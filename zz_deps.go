//go:build ignore_deps
package main
import (
 _ "github.com/tidwall/btree"
 _ "github.com/mr-tron/base58"
 _ "pgregory.net/rapid"
 _ "github.com/google/go-cmp/cmp"
 _ "go.uber.org/goleak"
 _ "github.com/rogpeppe/go-internal/testscript"
 _ "github.com/libp2p/go-libp2p/x/simlibp2p"
 _ "github.com/marcopolo/simnet"

 _ "github.com/libp2p/go-libp2p"
 _ "github.com/libp2p/go-libp2p-pubsub"
 _ "github.com/libp2p/go-libp2p/p2p/discovery/mdns"
 _ "github.com/dgraph-io/badger/v4"
 _ "github.com/fxamacker/cbor/v2"
 _ "github.com/spf13/cobra"
 _ "github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
 _ "github.com/klauspost/compress/zstd"
 _ "github.com/google/uuid"
 _ "github.com/goccy/go-yaml"
 _ "golang.org/x/text/unicode/norm"
 _ "golang.org/x/sync/errgroup"
)
func main(){}
