# The strict server: docker build -t strict-server . && docker run -p 8087:8087 strict-server
FROM python:3.13-slim AS build
COPY . /src
RUN pip wheel --no-cache-dir --wheel-dir /wheels "/src[conformance]"

FROM python:3.13-slim
RUN --mount=from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "ellmer-core[conformance]" \
    && useradd --create-home server
USER server
EXPOSE 8087
HEALTHCHECK --interval=3s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8087/reports')"]
ENTRYPOINT ["conformance", "serve", "--host", "0.0.0.0", "--port", "8087"]
