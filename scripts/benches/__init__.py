"""The benchmarks behind scripts/bench, one module for each subject."""
