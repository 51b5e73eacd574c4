// Package durable writes files and folders that are complete or absent after a crash, and restricts confidential ones
// to their owner. It knows nothing about their contents.
package durable
