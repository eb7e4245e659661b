package wire

// UpgradeMCP is the protocol that a connection changes to at /v1/mcp: JSON-RPC of
// the Model Context Protocol, one message a line.
const UpgradeMCP = "fleetd-mcp"
