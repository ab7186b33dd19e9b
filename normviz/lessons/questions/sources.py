"""The sources of questions: threads, reference pages, papers and documents."""

import re
from dataclasses import dataclass

LINK = re.compile(r"\[(.+)\]\((.+)\)")


@dataclass(frozen=True)
class Source:
    """Where a question was asked or its facts are documented: a name, and an address if there is one."""

    name: str
    address: str = ""

    @property
    def markdown(self) -> str:
        """The name, linked to the address."""
        return f"[{self.name}]({self.address})" if self.address else self.name


def read_source(text: str) -> Source:
    """The source that a question names: an issue, a pull request, a page of torch or Keras, a paper, a document, or a Markdown link.

    >>> read_source("pull onnx 8445").address, read_source("[A blog](https://a.org)").name
    ('https://github.com/onnx/onnx/pull/8445', 'A blog')
    """
    if link := LINK.fullmatch(text):
        return Source(*link.groups())
    form, _space, name = text.partition(" ")
    return FORMS[form](name) if name else DOCUMENTS[form]


def issue(text: str) -> Source:
    """An issue on GitHub: ``pytorch 71465``."""
    project, _space, number = text.partition(" ")
    return Source(f"{project} #{number}", f"https://github.com/{REPOSITORIES[project]}/issues/{number}")


def pull(text: str) -> Source:
    """A pull request on GitHub: ``onnx 8445``."""
    project, _space, number = text.partition(" ")
    return Source(f"{project} PR #{number}", f"https://github.com/{REPOSITORIES[project]}/pull/{number}")


def torch_page(name: str) -> Source:
    """The page of torch's reference on ``torch.nn.<name>``, or on a full name such as ``torch.var``."""
    full_name = name if name.startswith("torch.") else f"torch.nn.{name}"
    return Source(full_name, f"https://docs.pytorch.org/docs/stable/generated/{full_name}.html")


def keras_page(name: str) -> Source:
    """The page of Keras's reference on a normalization layer."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
    return Source(f"keras.layers.{name}", f"https://keras.io/api/layers/normalization_layers/{words}/")


def paper(subject: str) -> Source:
    """The paper on arXiv that introduced a layer or a model."""
    name, number = PAPERS[subject]
    return Source(name, f"https://arxiv.org/abs/{number}")


FORMS = {"issue": issue, "pull": pull, "torch": torch_page, "keras": keras_page, "paper": paper}
NAMED = (
    "pytorch/pytorch", "facebookresearch/ConvNeXt", "karpathy/minGPT", "open-mmlab/mmsegmentation",
    "Wan-Video/Wan2.1", "onnx/onnx", "fastai/fastai", "keras-team/keras", "huggingface/transformers",
    "tensorflow/tensorflow", "vllm-project/vllm", "vllm-project/vllm-metal", "gabeur/mmt", "KunpengLi1994/VSRN",
    "Blaizzy/mlx-vlm", "pytorch/executorch", "PKU-YuanGroup/Open-Sora-Plan", "poppinace/indexnet_matting",
    "google-research/bert", "deepinsight/insightface", "google/gemma_pytorch",
)  # fmt: skip
REPOSITORIES = {repository.partition("/")[2]: repository for repository in NAMED} | {
    "labml": "labmlai/annotated_deep_learning_paper_implementations",
    "timm": "huggingface/pytorch-image-models",
}
DOCUMENTS = {
    "flax": Source(
        "flax.linen.LayerNorm",
        "https://flax.readthedocs.io/en/latest/api_reference/flax.linen/layers.html#flax.linen.LayerNorm",
    ),
    "forum": Source("PyTorch forum: PyTorch doc about LayerNormalization is confusing"),
    "course": Source("stats.stackexchange: question on CS231n's layernorm_forward"),
    "annotated": Source("labml: annotated LayerNorm"),
    "article": Source("Article: LayerNorm vs BatchNorm"),
}
PAPERS = {
    "BatchNorm": ("Ioffe & Szegedy 2015", "1502.03167"),
    "LayerNorm": ("Ba, Kiros & Hinton 2016", "1607.06450"),
    "InstanceNorm": ("Ulyanov et al. 2016", "1607.08022"),
    "GroupNorm": ("Wu & He 2018", "1803.08494"),
    "RMSNorm": ("Zhang & Sennrich 2019", "1910.07467"),
    "Llama 2": ("Touvron et al. 2023", "2307.09288"),
    "Transformer": ("Vaswani et al. 2017", "1706.03762"),
    "How BatchNorm helps": ("Santurkar et al. 2018", "1805.11604"),
    "ConvNeXt": ("Liu et al. 2022", "2201.03545"),
    "AdaIN": ("Huang & Belongie 2017", "1703.06868"),
    "Conditional BatchNorm": ("de Vries et al. 2017", "1707.00683"),
    "adaLN-Zero": ("Peebles & Xie 2022", "2212.09748"),
    "Weight decay": ("van Laarhoven 2017", "1706.05350"),
    "Averaged weights": ("Izmailov et al. 2018", "1803.05407"),
    "New domains": ("Li et al. 2016", "1603.04779"),
    "PaLM": ("Chowdhery et al. 2022", "2204.02311"),
}
