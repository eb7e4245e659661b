package wire

// UpgradeMCP is the protocol that a connection changes to at /v1/mcp: JSON-RPC of
// the Model Context Protocol, one message a line.
const UpgradeMCP = "fleetd-mcp"

// MCPLineBytesMax bounds a message there, in either direction: the longest text of a
// record, escaped, and once more as much of it as a result repeats.
const MCPLineBytesMax = 64 << 20
