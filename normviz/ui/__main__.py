"""`python -m normviz.ui`: `streamlit run app.py`, with all imported first.

Streamlit listens before it imports the app. Behind a proxy, whoever came in those seconds would wait for torch, though another
process could answer at once; a port that does not listen yet is passed over.
"""

import sys

from streamlit.web import cli

from normviz.ui.server import ROOT

sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
sys.exit(cli.main())
