"""Parts of replies that several chat_apis have, or that need a module of their own: events, citations, signed thoughts.

A api imports its parts; a part imports at most `base`.
"""
