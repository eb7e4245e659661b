package store

import "time"

// Bounds of the store. They are local to one machine and part of no format.
const (
	// txnRecordsMax bounds the records of one transaction.
	txnRecordsMax = 512
	// txnBytesMax bounds the keys and values of one transaction as they are
	// estimated before it, in bytes. Badger's own limit is 15 % of its memtable,
	// 2.4 MiB; the rest is room for index rows and large bases.
	txnBytesMax = 1 << 20
	// mergeRecordsMax and mergeBytesMax are those bounds for what came from
	// elsewhere: a page of a peer, of records of a kilobyte, is one transaction and
	// one sync instead of two. Nobody waits for it but local writes, and those no
	// longer than for the disk.
	mergeRecordsMax = 1_024
	mergeBytesMax   = 3 << 19
	// recordOverheadBytes is the estimate for the rows that one record adds
	// besides its own bytes and four times its key.
	recordOverheadBytes = 320
	// retriesMax is how often Write builds anew because of a concurrent change
	// before it takes the applier for itself.
	retriesMax = 4
	// incarnationsMax bounds the openings that cursors can still refer to. A
	// cursor older than that is unknown and costs one reconciliation.
	incarnationsMax = 256
	// historyMaxDefault bounds the covered versions that a key keeps.
	historyMaxDefault = 50
	// historySlack is how many more than its maximum a key's history may grow
	// before it is pruned, so that pruning is not paid by every write.
	historySlack = 16
	// pruneKeysMax bounds the histories pruned in one transaction, and with it
	// the deletes that come on top of what txnBytesMax counts.
	pruneKeysMax = 32
	// parkedMaxDefault bounds the parked versions of a store.
	parkedMaxDefault = 65_536
	// parkedPerWriterMaxDefault bounds the parked versions of one writer, so
	// that one whose clock is wrong, or whose grant is late, leaves room for
	// others.
	parkedPerWriterMaxDefault = 4_096
	// parkedPerPeerMaxDefault bounds the parked versions that one peer has
	// delivered: a key costs nothing, and a member may make up any number of
	// writers. It takes eight such members to fill the room of all others.
	parkedPerPeerMaxDefault = 8_192
	// parkedBytesMax bounds the parked versions of a store in bytes, and
	// parkedPerPeerBytesMax those that one peer has delivered.
	parkedBytesMax        = 256 << 20
	parkedPerPeerBytesMax = 32 << 20
	// localBytesMax bounds one node-private value.
	localBytesMax = 256 << 10
	// indexBytesMax bounds one index row, name and value.
	indexBytesMax = 64 << 10
	// FreeBytesMin is the free disk space, in bytes, below which badger is not
	// written to: a memtable, its log and a table must still fit.
	FreeBytesMin = 64 << 20
	// blobRefBytes is the estimate for the rows that one reference to a blob adds.
	blobRefBytes = 200
	// blobDropsMax bounds the blobs that one transaction drops, each of 34 rows at
	// most: what is more is left to those after it.
	blobDropsMax = 64
	// pruneRefsMax bounds the references that pruning lets go of in one
	// transaction.
	pruneRefsMax = 1_024
	// putChunksMax is how many chunks of local content go into one transaction:
	// what txnBytesMax has room for.
	putChunksMax = 3
	// putAttemptsMax is how often PutBlob begins again because a peer's chunk that
	// was wrong took its own with it.
	putAttemptsMax = 4
	// lockWaitMax is how long a lock of another process is waited for, and
	// lockWaitStep after how long it is tried again.
	lockWaitMax  = 200 * time.Millisecond
	lockWaitStep = 10 * time.Millisecond
	// bucketMask gives a bucket of the digest 64 versions on average: a list of them
	// is as long as a difference is worth looking for by further digests.
	bucketMask = 64 - 1
	// bucketMax is the size from which a bucket is cut at any key.
	bucketMax = 512
	// partRowsMax is the size of a span up to which its parts are made of single
	// versions; beyond it they are made of buckets, which costs no read.
	partRowsMax = 4 * (bucketMask + 1)
	// buildRowsMax bounds the rows of one step of the builder of digests, during
	// which nothing can commit: about a millisecond.
	buildRowsMax = 1024
	// scrubRowsMax bounds the rows of one step of a scrub, during which nothing can
	// commit: a few milliseconds. scrubBucketsMax bounds the buckets of one step.
	scrubRowsMax    = 256
	scrubBucketsMax = 8
	// rejudgeRowsMax bounds the rows that are looked at in one snapshot when all are
	// judged anew, and rejudgeKeysMax the keys that one transaction computes.
	rejudgeRowsMax = 4_096
	rejudgeKeysMax = 64
	// scanChunkMax bounds the parked versions that Reconsider judges at a time.
	scanChunkMax = 512
)
