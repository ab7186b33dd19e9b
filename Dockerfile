# To pin the base image too, write the digest that `docker buildx imagetools inspect python:3.11-slim-bookworm` prints:
#   FROM python:3.11-slim-bookworm@sha256:...
FROM python:3.11-slim-bookworm

# The index for torch only. The other packages come from the default index, as requirements.lock pins them (`make lock`). If this index does
# not respond, torch and what its default wheel needs come from the default index, too, without hashes.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

WORKDIR /app
COPY requirements.txt requirements.lock ./
COPY tools/sbom.py /opt/sbom.py
COPY tools/plotlyjs.py tools/npm.lock tools/

# Install and remove unused files in one layer. Bytecode is kept, and our own files are compiled below: the user of the image cannot write
# it, and every start would be slow without it.
# hadolint ignore=DL3003
RUN python -m venv --without-pip /opt/venv \
 && install="pip --disable-pip-version-check --no-cache-dir --python /opt/venv/bin/python install" \
 && torch="$(grep '^torch==' requirements.txt)" \
 && { $install --no-deps --timeout 15 --retries 1 --index-url "$TORCH_INDEX" "$torch" \
      || { echo "$TORCH_INDEX does not have torch; installing it from the default index."; $install "$torch"; }; } \
 && $install --require-hashes -r requirements.lock \
 && pip --python /opt/venv/bin/python check \
 && cd /opt/venv/lib/python3.11/site-packages \
 && rm -rf torch/test torch/include torch/share torch/bin/protoc* torch/bin/*[Tt]est* pyarrow/include \
 && find numpy pandas sympy networkx pyarrow -type d -name tests -prune -exec rm -rf {} + \
 && useradd --uid 1000 --create-home normviz

# The small plotly.js. If it cannot be fetched, the build says so, and the image uses the large one of Python's Plotly.
RUN python tools/plotlyjs.py || true

COPY app.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY normviz normviz
RUN /opt/venv/bin/python -m compileall -q app.py pages normviz \
 && /opt/venv/bin/python /opt/sbom.py > /sbom.json

# Each visitor needs an open file. The app raises the limit to the hard one; where that is below 1,024, give
# `docker run --ulimit nofile=65536:65536` for a class of 300.
#
# STREAMLIT_SERVER_PORT can be changed; PORT, which many hosts set, takes precedence. STREAMLIT_BROWSER_SERVER_ADDRESS only changes the
# address in the log.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_BROWSER_SERVER_ADDRESS=localhost \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501
USER 1000
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import os, urllib.request as u; u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:' + (os.environ.get('PORT') or os.environ['STREAMLIT_SERVER_PORT']) + '/readyz', timeout=4)"]
CMD ["sh", "-c", "STREAMLIT_SERVER_PORT=${PORT:-$STREAMLIT_SERVER_PORT} exec python -m normviz.ui"]
