"""Where questions were asked and where facts stand, by name and address."""

from __future__ import annotations

from normviz.lessons.questions.question import Source


def issue(project: str, number: int, kind: str = "issues") -> Source:
    """A thread of GitHub.

    >>> issue("pytorch", 71465).address
    'https://github.com/pytorch/pytorch/issues/71465'
    """
    named = "PR #" if kind == "pull" else "#"
    return Source(f"{project} {named}{number}", f"https://github.com/{REPOSITORIES[project]}/{kind}/{number}")


def torch_page(name: str) -> Source:
    """The page of torch's reference on ``torch.nn.<name>``, or on another name with its module: ``torch.var``."""
    whole = name if name.startswith("torch.") else f"torch.nn.{name}"
    return Source(whole, f"https://docs.pytorch.org/docs/stable/generated/{whole}.html")


def keras_page(name: str) -> Source:
    """The page of Keras's reference on one of its normalization layers."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
    return Source(f"keras.layers.{name}", f"https://keras.io/api/layers/normalization_layers/{words}/")


def paper(name: str, number: str) -> Source:
    """A paper on arXiv."""
    return Source(name, f"https://arxiv.org/abs/{number}")


REPOSITORIES = {
    "pytorch": "pytorch/pytorch",
    "ConvNeXt": "facebookresearch/ConvNeXt",
    "minGPT": "karpathy/minGPT",
    "mmsegmentation": "open-mmlab/mmsegmentation",
    "Wan2.1": "Wan-Video/Wan2.1",
    "onnx": "onnx/onnx",
    "fastai": "fastai/fastai",
    "keras": "keras-team/keras",
    "transformers": "huggingface/transformers",
}
BATCH_NORM_PAPER = paper("Ioffe & Szegedy 2015", "1502.03167")
LAYER_NORM_PAPER = paper("Ba, Kiros & Hinton 2016", "1607.06450")
INSTANCE_NORM_PAPER = paper("Ulyanov et al. 2016", "1607.08022")
GROUP_NORM_PAPER = paper("Wu & He 2018", "1803.08494")
RMS_NORM_PAPER = paper("Zhang & Sennrich 2019", "1910.07467")
CONVNEXT_PAPER = paper("Liu et al. 2022", "2201.03545")
