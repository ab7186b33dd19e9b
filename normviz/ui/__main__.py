"""`python -m normviz.ui` is `streamlit run app.py` that imports everything before it listens.

`streamlit run app.py` listens while torch is being imported, which is best for one visitor and one process. Behind a proxy, a visitor would
then wait for this process although another one could answer at once; a port that is not open yet makes the proxy choose the other one.
`normviz app` starts it, too.
"""

import sys

from streamlit.web import cli

from normviz.ui import ROOT
from normviz.ui.server import routes as routes  # app.py imports it while the port is already open
from normviz.ui.server.process import import_future

import_future().result()
sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
sys.exit(cli.main())
