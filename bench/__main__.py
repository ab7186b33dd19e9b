"""All benchmarks in one run: ``python -m bench``, or some of them: ``python -m bench rerun start``. Options: see each of them."""

import sys
from importlib import import_module

NAMES = ("rerun", "start", "load", "hover", "weight", "touch")

chosen = [name for name in sys.argv[1:] if name in NAMES] or NAMES
options = [argument for argument in sys.argv[1:] if argument not in NAMES]
for name in chosen:
    print(f"\n## {name}\n", flush=True)
    import_module(f"bench.{name}").main(options)
