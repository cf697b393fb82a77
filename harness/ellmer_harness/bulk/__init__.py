"""The same work for many recordings: where they are, who does the work, and what is known already.

`sources` finds files in folders and object stores, `engines` spreads the work over processes or a cluster, and `journal`
keeps the results, so that an interrupted run goes on.
"""
