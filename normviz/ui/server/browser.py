"""Opens the reader's browser as soon as the server listens: `streamlit run app.py -- --open`."""

import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from time import sleep

import streamlit as st
from streamlit.web.server.server_util import get_display_address, get_url

OPEN = "--open"
POLL = 0.05  # s


def open_if_asked() -> None:
    """Start to wait for the server, if an argument of the app asks for it."""
    if OPEN in sys.argv[1:]:
        threading.Thread(target=_open, daemon=True).start()


def _open() -> None:
    """Open the app. A machine without a browser is not an error: the address is printed, too."""
    host = get_display_address(st.get_option("server.address") or "localhost")
    while True:
        with suppress(OSError), socket.create_connection((host, st.get_option("server.port")), timeout=1):
            break
        sleep(POLL)
    with suppress(webbrowser.Error):
        webbrowser.open(get_url(f"[{host}]" if ":" in host else host))
