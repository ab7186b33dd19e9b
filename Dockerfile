FROM python:3.11-slim-bookworm

# The index for torch alone; the default index serves the rest, and torch too where this one does not answer.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu

WORKDIR /app
COPY requirements.txt .

# Install and trim in one layer. Bytecode stays, and is made of our own files too: the user below cannot write it, and without it every
# start is slow.
RUN python -m venv --without-pip /opt/venv \
 && install="pip --disable-pip-version-check --no-cache-dir --python /opt/venv/bin/python install" \
 && { $install --no-deps --timeout 15 --retries 1 --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \
      || echo "$TORCH_INDEX did not serve torch; taking it from the default index."; } \
 && $install -r requirements.txt \
 && cd /opt/venv/lib/python3.11/site-packages \
 && rm -rf torch/test torch/include torch/share torch/bin/protoc* torch/bin/*[Tt]est* pyarrow/include \
 && find numpy pandas sympy networkx pyarrow -type d -name tests -prune -exec rm -rf {} + \
 && useradd --system --create-home normviz

COPY app.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY normviz normviz
RUN /opt/venv/bin/python -m compileall -q app.py pages normviz

# STREAMLIT_SERVER_PORT may be changed. The browser's address is only what the log prints.
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_BROWSER_SERVER_ADDRESS=localhost \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501
USER normviz
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import os, urllib.request as u; u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:' + os.environ['STREAMLIT_SERVER_PORT'] + '/readyz', timeout=4)"]
CMD ["python", "-m", "normviz.ui"]
