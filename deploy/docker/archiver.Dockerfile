# The archiver: the pattern of Dockerfile, and a Java runtime with the jars that Spark needs. Also the image
# of drivers and executors on Kubernetes, see deploy/kubernetes.
# docker build -f deploy/docker/archiver.Dockerfile .
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS java
RUN apt-get update -qq \
 && mkdir -p /usr/share/man/man1 \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless procps \
 && rm -rf /var/lib/apt/lists/*

FROM java AS build
RUN pip install --no-cache-dir --disable-pip-version-check uv==0.13.8
ENV UV_LINK_MODE=copy UV_COMPILE_BYTECODE=1 UV_PYTHON_DOWNLOADS=never
WORKDIR /src
COPY pyproject.toml uv.lock ./
ENV UV_PROJECT_ENVIRONMENT=/opt/warren
RUN uv sync --locked --no-dev --no-install-project --no-cache --extra archiver
COPY . .
RUN uv sync --locked --no-dev --no-editable --no-cache --extra archiver \
 && WARREN_LOCAL__STATE_DIR=/opt/state /opt/warren/bin/python -m warren_local.jars

FROM java
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/warren warren \
 && mkdir /var/lib/warren/lake && chown warren /var/lib/warren/lake
COPY --from=build /opt/warren /opt/warren
COPY --from=build /opt/state/jars-spark /opt/jars
COPY deploy/docker/spark-role /opt/spark-role
# Spark mounts its settings at /opt/spark/conf, so /opt/spark itself must not be a link.
RUN chmod 755 /opt/spark-role && mkdir /opt/spark && ln -s /opt/warren/lib/python3.*/site-packages/pyspark/bin \
    /opt/warren/lib/python3.*/site-packages/pyspark/jars /opt/spark/ \
 && ln -s /opt/warren/lib/python3.*/site-packages/warren_archiver/__main__.py /opt/warren-archiver.py
ENV PATH=/opt/warren/bin:$PATH PYTHONUNBUFFERED=1 WARREN_LOG__FORMAT=json SPARK_HOME=/opt/spark \
    WARREN_ARCHIVER__JARS_DIR=/opt/jars WARREN_ARCHIVER__PATH=/var/lib/warren/lake
USER 10001
WORKDIR /var/lib/warren
VOLUME /var/lib/warren/lake
ENTRYPOINT ["/opt/spark-role"]
CMD ["warren-archiver"]
