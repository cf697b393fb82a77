"""This folder has the cases, the model's script for each, and the variations of its answers.

The modules are plain values; they import only the harness's readers of streams. All other parts may import them.
"""
