"""Judge recordings: those of this project and of anybody else."""
