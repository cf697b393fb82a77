"""Parts of replies that several dialects have, or that need a module of their own: events, citations, signed thoughts.

A dialect imports its parts; a part imports at most `base`.
"""
