ARG PYTHON=python:3.13-slim@sha256:8d9d0b8bcf6506481eae4907c18f5e3e7902e629f5f6d684f9e7c32e85e3ddf0

FROM ${PYTHON} AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY esrag esrag
COPY mappings mappings
COPY templates templates
COPY workers workers
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
 && python -m venv /opt/esrag \
 && /opt/esrag/bin/pip install --no-cache-dir "$(ls /wheels/*.whl)[elasticsearch,opensearch,queue,redis,cohere,s3]"

FROM ${PYTHON}
LABEL org.opencontainers.image.title="esrag" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.description="Question answering over your own documents" \
      org.opencontainers.image.licenses="Apache-2.0"
# The cache is the user's own, and so is a new volume that is mounted on it.
RUN useradd --uid 1000 --create-home esrag && install --directory --owner esrag /home/esrag/.cache
COPY --from=build /opt/esrag /opt/esrag
USER 1000
WORKDIR /home/esrag
ENTRYPOINT ["/opt/esrag/bin/esrag"]
CMD ["--help"]
