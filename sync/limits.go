package sync

import "time"

// Bounds of the protocol and of the engine. Each stands here once, with its
// unit and its reason; PROTOCOL.md repeats those that peers must keep.
const (
	// frameBytesMax bounds a frame as sent, after its length prefix.
	frameBytesMax = 1 << 20
	// inflatedBytesMax bounds what a compressed frame may inflate to.
	inflatedBytesMax = 4 << 20
	// compressBytesMin is the payload from which compression is tried: below,
	// the frame of the compressor costs more than it saves.
	compressBytesMin = 512
	// deflatersMax bounds the payloads that are compressed at a time, each with
	// deflateWindowBytes of memory: about what a page holds.
	deflatersMax       = 2
	deflateWindowBytes = 1 << 20
	// payloadBytesGoal is where a responder stops filling a page, so that a
	// frame fits even when nothing compresses.
	payloadBytesGoal = 900 << 10
	// paceBytesBegin is what the first answer of a peer is asked to hold: on a line
	// of 13 kB a second it comes within the timeout, and on a fast one four more
	// bring the size to what fits a frame.
	paceBytesBegin = 128 << 10
	// paceBytesMin is the least that an answer is asked to hold, about a quarter of
	// the largest record; a single record always fits.
	paceBytesMin = 16 << 10
	// entryOverhead and recordOverhead are what an entry adds to its order key,
	// and a record to its bytes, at most.
	entryOverhead  = 96
	recordOverhead = 5
	// entriesMax bounds the entries of one CHANGES_PAGE.
	entriesMax = 4096
	// refsMax bounds the keys of one GET.
	refsMax = 2048
	// sectionsMax bounds the sections of one HELLO or HEARTBEAT.
	sectionsMax = 1024
	// GossipBytesMax bounds one gossip message; larger records are announced
	// and pulled.
	GossipBytesMax = 64 << 10
	// gossipEventsMax bounds the events of one gossip message.
	gossipEventsMax = 512
	// positionBytesMax bounds a position: kind, the components of an id and the
	// writer take less.
	positionBytesMax = 4 << 10
	// spansMax bounds the spans of one RECON and of its answer.
	spansMax = 4096
	// reconBytesMax is where a RECON and its answer are full, besides one span.
	reconBytesMax = 256 << 10
	// questionsMax bounds the spans that one RECON asks of: each may be answered
	// by several.
	questionsMax = 1024
	// waitingMax bounds the spans of one exchange that are still to be asked of,
	// and, apart from them, those to be fetched by pages. What is beyond is left to
	// another exchange.
	waitingMax = 1 << 16
	// depthMax is after how many divisions a span is listed, whatever its size.
	depthMax = 32
	// listCountMax is the size from which a span is compared by parts: below,
	// tags cost less than parts and another round trip.
	listCountMax = 16
	// tagsPerListed is how many tags are sent for each version that a list may have:
	// more cost more bytes than the versions that they leave out.
	tagsPerListed = 4
	// listedLikely is how many versions of a span of listCountMax differ, as long as
	// nothing says that it is more.
	listedLikely = 4
	// denseCountMax is the size up to which a span is listed of which every part
	// differs, and denseParts how many parts say so.
	denseCountMax = 256
	denseParts    = 4
	// taggedSpread is how many versions lie between those that are asked for by
	// tags, for each of them, at most: the responder passes them all.
	taggedSpread = 4
	// listedAtOnceMax is how many versions a responder lists unasked: telling of
	// them costs as much as asking whether to.
	listedAtOnceMax = 1
	// gapCountMin is the size from which a span that is lacking altogether is
	// fetched by pages: below, its records travel with others.
	gapCountMin = 64
	// gapPagesMin is how many pages, of records of a kilobyte, a part of what is
	// lacking altogether has at least.
	gapPagesMin = 4
	// auditCountGoal is the size of a part that is audited.
	auditCountGoal = 2048
	// spanOverhead and itemOverhead are what a span adds to the rest of its bound
	// and to its print, and an item to the rest of its order key, at most.
	spanOverhead = 16
	itemOverhead = 26
	// textBytesMax bounds reasons and other words of a peer.
	textBytesMax = 256

	// inlineBehindMin is how far behind a feed is when it is asked for records at
	// once: nearer, gossip has brought most of them already.
	inlineBehindMin = 256
	// echoMin is from how many entries on a comparison costs less than a feed that
	// has nothing new.
	echoMin = 256
	// pullsMax bounds the exchanges that one node pulls at a time; each holds
	// up to stepsMax pages in memory.
	pullsMax = 4
	// pullsBarrenMax bounds the exchanges besides that have brought nothing new for
	// long: pages without end of a peer that lies, or a long list of what is
	// known.
	pullsBarrenMax = 4
	// pausedMax bounds the exchanges with one peer that wait until it is less busy,
	// with a page each. More begin anew: another peer has the section meanwhile.
	pausedMax = 4
	// stepsMax bounds the pages of one pull that are asked for or between the wire
	// and the store: two are fetched while one is verified and another stored.
	stepsMax = 4
	// gapsMax bounds the pages of different gaps that are asked of one peer at a
	// time.
	gapsMax = 2
	// partsMax bounds the answers for one page that are at the verifier.
	partsMax = 2
	// wantsMax bounds the sections of one peer that wait to be pulled; more come
	// with the comparison after these.
	wantsMax = 1024
	// remoteMax bounds the sections of which one peer's state is remembered; it
	// is far above what a fleet has, and what is beyond is neither pulled nor
	// waited for.
	remoteMax = 1 << 16
	// gossipPendingMax bounds gossiped records on their way to the store; more
	// are dropped and counted, and repaired by the feed.
	gossipPendingMax = 16384
	// gossipApplyingMax bounds the batches of them that the store is asked for at a
	// time.
	gossipApplyingMax = 2
	// batchRecordsMax bounds the gossiped records of one batch to the store.
	batchRecordsMax = 512
	// fetchesMax bounds the blobs that are fetched at a time, each from another
	// peer and with one chunk in memory. Few: records come first.
	fetchesMax = 2
	// fetchBusyMax is how often in a row a peer may be too busy for a blob before
	// another is asked.
	fetchBusyMax = 8
	// wantedLookMax bounds the blobs that are looked up at a time when nobody may
	// have them; the next look goes on.
	wantedLookMax = 256
	// absentMax bounds the blobs that one peer is remembered not to have. It is
	// asked for none while there are more.
	absentMax = 1024
	// answersMax bounds the requests of one peer that are being answered: a pull
	// has two pages and one GET outstanding, and a blob is fetched beside it. More are
	// told BUSY.
	answersMax = 4
	// answerRate is what one peer may make this node read and send for good, in
	// bytes a second. Over budget a peer is told BUSY.
	answerRate = 32 << 20
	// compareRate is how many sections one peer may have compared for good, a
	// second; a list of few counts as compareCost. What is beyond is ignored. A
	// hundred thousand take a tenth of a second.
	compareRate = 1 << 17
	compareCost = 256
	// budgetBurst is how many seconds of its rate each budget holds: a store of
	// usual size is fetched as fast as both ends can, and compared several times.
	budgetBurst = 4
	// answerCost and lookupCost are what an answer, and each version looked up for
	// it, cost besides the bytes that are sent: reading one takes as long as
	// sending so many.
	// spanCost is that of the digest of a span, and scanCost that of a version that
	// is passed in order, without its record.
	answerCost = 4 << 10
	lookupCost = 512
	spanCost   = 2 << 10
	scanCost   = 64
	// checksMax bounds the peers that are checked at a time; others wait.
	checksMax = 4
	// checkSpansMax is how many parts of auditCountGoal versions a check asks of at a
	// time: so many hashes are read in a turn of the engine, in about 10 ms.
	checkSpansMax = 8
	// checkPartsMax bounds the parts that a check cuts a section into.
	checkPartsMax = 4096
	// checkRoundsMax bounds the questions of one section, besides one a part.
	checkRoundsMax = 256
	// checkMovesMax is how often a section may have moved before a check says no more
	// than that.
	checkMovesMax = 4
	// differenceMax bounds the versions that a difference names on each side.
	differenceMax = 16
	// partnersMax bounds the peers that get a heartbeat each interval.
	partnersMax = 4
)

// Default intervals; Config overrides the first two.
const (
	// HeartbeatDefault is how often heads are compared with a few partners.
	HeartbeatDefault = 10 * time.Second
	// RequestTimeoutDefault is how long an answer may take before the exchange
	// is given up and begun again.
	RequestTimeoutDefault = 10 * time.Second
	// randomPartnerEvery is how often one more, random, peer is compared with,
	// so that no clique of partners stays closed.
	randomPartnerEvery = time.Minute
	// quietAfter is how long after the last change heads are compared out of
	// turn, so that a fleet at rest knows soon that it is in sync.
	quietAfter = time.Second
	// checkPatience is after how long a check is given up that does not get on.
	checkPatience = 30 * time.Second
	// refusedRetry is after how many heartbeats a section is pulled again of which
	// a part was refused room, unless room was made meanwhile: each try lists the
	// section from there on.
	refusedRetry = 3
	// absentHeartbeats is after how many heartbeats a peer is asked again for a blob
	// that it did not have, unless its feed moved on: it may have it by now.
	absentHeartbeats = 2
	// notReadyRetry is what BUSY asks for while digests are built: a million
	// versions take less than a second.
	notReadyRetry = time.Second
	// busyRetry is what BUSY asks for at least, before jitter.
	busyRetry = 500 * time.Millisecond
)
