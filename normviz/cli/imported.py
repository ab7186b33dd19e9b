"""An object of the caller's own code, by the name ``module:callable``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any

from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _


def imported(name: str) -> Callable[..., Any]:
    """The callable of this name. Modules are looked for in the working directory first, as ``python -m`` does.

    >>> imported("torch.nn.functional:layer_norm").__name__
    'layer_norm'
    """
    module, _colon, attributes = name.partition(":")
    if not module or not attributes:
        raise NormvizError(
            _("{name} does not name a function; write module:function, such as mymodule:my_layernorm.", name=echo(name))
        )
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
    except Exception as error:
        raise NormvizError(
            _(
                "{module} cannot be imported: {kind}: {error}. Run normviz in the folder of the module.",
                module=echo(module),
                kind=type(error).__name__,
                error=str(error),
            )
        ) from error
    try:
        found = reduce(getattr, attributes.split("."), found)
    except AttributeError as error:
        raise NormvizError(_("{name} does not exist: {error}.", name=echo(name), error=str(error))) from error
    if not callable(found):
        raise NormvizError(
            _("{name} is not a function or a module: it is {value}.", name=echo(name), value=echo(found))
        )
    return found
