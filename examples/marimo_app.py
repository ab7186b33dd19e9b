import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import marimo as mo

    import normviz as nv

    return mo, nv


@app.cell
def _(mo):
    layer = mo.ui.dropdown(["LayerNorm([3, 4, 4])", "BatchNorm2d(3)", "InstanceNorm2d(3)"], "LayerNorm([3, 4, 4])")
    layer  # noqa: B018
    return (layer,)


@app.cell
def _(layer, nv):
    nv.explain(layer.value, (2, 3, 4, 4))
    return


@app.cell
def _(nv):
    nv.live("LayerNorm([3, 4, 4])", (2, 3, 4, 4))
    return


if __name__ == "__main__":
    app.run()
