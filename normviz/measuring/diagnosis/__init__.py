"""Why a model gives other results in eval mode: ``passes`` runs it in both modes, ``causes`` tells what is wrong."""
