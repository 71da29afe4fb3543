# Two stages: the packages that run, and the image itself. What else it takes is committed in generated/.
# The image has no PostgreSQL of its own: set DATABASE_URL. See docs/operations.md, "In a container".
# Pinned by version; by digest with --build-arg NODE=node:24.21.0-slim@sha256:… (docker buildx imagetools inspect tells it).
ARG NODE=node:24.21.0-slim

FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without optional packages: they are an embedded PostgreSQL and a Node for machines that have none.
RUN npm ci --ignore-scripts --omit=optional --omit=dev
# What nothing reads at run time: types, source maps, and Prisma's compilers for other databases. Half of the packages' size.
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && find node_modules/@prisma/client/runtime -name 'query_compiler_*' ! -name '*.postgresql.*' -delete

FROM ${NODE}
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tapegraph" \
  org.opencontainers.image.description="A gateway for market-data analytics: one GraphQL graph, and a REST contract." \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.licenses="UNLICENSED"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 TAPEGRAPH_DATA=/data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY bin bin
COPY proto proto
# Served to AI clients by /mcp.
COPY docs/methodology.md docs/
COPY prisma prisma
COPY src src
COPY generated generated
# Its own files are root's and cannot be changed by what runs; /data is for the files of the sample market. The user is a number, so
# that an orchestrator can see that it is not root; it is in no file of the image, and owns nothing else.
RUN mkdir /data && chown 10001:10001 /data
USER 10001:10001
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/tapegraph.mjs"]
CMD ["serve"]
