"""Proves that a provider adapter, anyone's, speaks its provider's protocol."""
