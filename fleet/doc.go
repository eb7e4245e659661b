// Package fleet decides who belongs to a fleet and what each member may write.
package fleet
