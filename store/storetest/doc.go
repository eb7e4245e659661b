// Package storetest holds what every engine and the store above it must do, as
// tests that an engine's own test runs with [RunSuite], and the tools that they
// are made of: an [Author] who writes honest versions, and a [Faulty] engine
// that fails on demand.
//
// The store is compared with a deliberately naive twin: a set of all versions
// that were ever admitted, from which everything is computed anew.
package storetest
