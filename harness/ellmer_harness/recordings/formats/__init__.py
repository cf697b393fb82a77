"""The files of other recorders: one module for each family of formats.

The modules import `exchange` and the modules beside this folder. The detection of formats imports them.
"""
