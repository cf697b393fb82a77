"""The contract of each wire format: rules, the readers of requests that they use, and the values that they judge.

The modules import `scenarios` and the harness's readers of streams. They know no adapter, no server and no report.
"""
