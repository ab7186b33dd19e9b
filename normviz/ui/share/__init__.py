"""The Share panel."""
