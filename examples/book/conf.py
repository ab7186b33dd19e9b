"""A Sphinx book whose pages are run when it is built."""

project = "Normalization"
author = "the normviz contributors"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "Normalization"
nb_execution_mode = "force"
nb_execution_raise_on_error = True
