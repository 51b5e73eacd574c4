// Package durable writes files and folders that a crash leaves whole or not at all, and keeps confidential ones to
// their owner. It knows nothing of what is in them.
package durable
