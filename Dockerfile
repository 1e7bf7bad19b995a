# Quartermaster in a container. docs/guides/docker-and-ci.md says how to run it.

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The files of the package, with the packages that the lock file names.
RUN npm pack \
  && mkdir /out \
  && tar --extract --gzip --file quartermaster-*.tgz --directory /out --strip-components 1 \
  && cp package-lock.json /out/ \
  && npm ci --prefix /out --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim
# git is for the built-in server of that name. As process 1, tini hands signals on and reaps what servers leave behind.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git tini \
  && rm -rf /var/lib/apt/lists/*
RUN install -d -o node -g node -m 0700 /state \
  && install -d -o node -g node -m 0755 /workspace
COPY --from=build /out /opt/quartermaster
RUN ln -s /opt/quartermaster/bin/qm /usr/local/bin/qm
ENV NODE_ENV=production QM_STATE_DIR=/state QM_KEYCHAIN=off
USER node
WORKDIR /workspace
VOLUME /state
EXPOSE 4680
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:4680/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "qm"]
CMD ["serve", "--host", "0.0.0.0", "--port", "4680"]
