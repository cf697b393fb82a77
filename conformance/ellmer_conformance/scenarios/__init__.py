"""This folder has what is played: cases, the model's script for each, and variations of how its answers arrive.

The modules are plain values; they import only the harness's readers of streams. All other parts may import them.
"""
