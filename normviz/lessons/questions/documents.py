"""The four documents that this started from, as sources."""

from normviz.lessons.questions.question import Source

FORUM = Source("PyTorch forum: PyTorch doc about LayerNormalization is confusing")
COURSE = Source("stats.stackexchange: question on CS231n's layernorm_forward")
ANNOTATED = Source("labml: annotated LayerNorm")
ARTICLE = Source("Article: LayerNorm vs BatchNorm")
