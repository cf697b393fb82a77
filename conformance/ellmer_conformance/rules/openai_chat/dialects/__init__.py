"""Vendors with refusals of their own, one module each; `BOOKS` maps vendor to book."""
