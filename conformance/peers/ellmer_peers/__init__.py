"""Bridges from the suite to other chat libraries, one module for each library.

They use the adapter protocol of `ellmer_conformance.adapters`, as any outside adapter does. Nothing of the suite imports them.
"""
