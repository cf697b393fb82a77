"""The version of the distribution. The build reads it here, because the metadata of an installed package is slow to
read.
"""

__all__ = ["VERSION"]

VERSION = "0.1.0"
