"""The address of the app, with which links begin: the environment variable ``NORMVIZ_URL``."""

from os import environ

SETTING = "NORMVIZ_URL"


def app_of_environment() -> str:
    """The address of the app, without a slash at its end; "" if none is set."""
    return environ.get(SETTING, "").strip().rstrip("/")
