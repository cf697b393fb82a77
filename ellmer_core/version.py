"""The version of the distribution, which its build reads here. (To ask the installed metadata takes long.)"""

__all__ = ["VERSION"]

VERSION = "0.1.0"
