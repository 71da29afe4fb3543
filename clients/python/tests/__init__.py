"""Tests of the package that need no gateway: ``python3 -m unittest``."""
