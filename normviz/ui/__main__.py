"""`python -m normviz.ui`: `streamlit run app.py`, with all imported first.

`streamlit run app.py` listens while torch is imported, which is best for one visitor and one process. Behind a proxy, whoever came in that
time would wait, though another process could answer at once; a port that does not listen yet is passed over.
"""

import sys

from streamlit.web import cli

from normviz.ui.paths import ROOT
from normviz.ui.server.preload import import_future

import_future().result()
sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
sys.exit(cli.main())
