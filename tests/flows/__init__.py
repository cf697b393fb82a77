"""Six flows through the packages, followed with a profiler: `docs/architecture.md` lists the files of each in order."""
