"""The whole vocabulary of working on this project: `nox -l` lists it, `nox -s NAME` runs one."""
