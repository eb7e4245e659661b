package merge

// Bounds of a record. They are part of the format: a record beyond one of them
// is malformed on every node, so they can only be raised by a new major
// version of the protocol.
const (
	// componentBytesMax bounds one component of an id and one field of a scope.
	componentBytesMax = 256
	// componentsMax bounds the components of an id.
	componentsMax = 4
	// kindBytesMax bounds a kind, family included.
	kindBytesMax = 64
	// instanceBytesMax bounds the text of an instance that has no key.
	instanceBytesMax = 128
	// BodyBytesMax bounds the body of one record; larger content is a blob.
	BodyBytesMax = 64 << 10
	// BasisMax bounds the writers of a basis.
	BasisMax = 64
	// BlobsMax bounds the blob references of one record; a longer list is a
	// manifest blob.
	BlobsMax = 64
	// BlobBytesMax bounds the content behind one blob reference.
	BlobBytesMax = 8 << 20
	// headerBytesMax bounds a header: 64 basis entries, 64 blobs and the
	// longest key fit four times over, so a newer build has room for fields.
	headerBytesMax = 64 << 10
	// RecordBytesMax bounds the encoded form of one record.
	RecordBytesMax = headerBytesMax + BodyBytesMax + 256
	// depthMax bounds the nesting of CBOR.
	depthMax = 8
	// arrayElementsMax and mapPairsMax bound what Unmarshal builds of one array
	// or map: as many as a body has room for.
	arrayElementsMax = BodyBytesMax
	mapPairsMax      = BodyBytesMax / 2
)
