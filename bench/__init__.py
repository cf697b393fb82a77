"""The benchmarks. `python -m bench --help` lists them; each measures our code beside others' in one run."""
