"""Proves that any provider adapter follows its provider's protocol."""
