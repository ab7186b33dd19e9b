"""The Share panel: the data, and the script that draws the panel."""
