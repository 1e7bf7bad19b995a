import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { installPackages } from './install-packages.mjs';
import { openHub } from './open-hub.mjs';
import { waitForPort } from './wait-for-port.mjs';
import { httpServer, stdioServer } from './workspace.mjs';

/**
 * A contender is `{ name, upstream, start }`. `start` resolves to what can be measured: the process of the hub, and
 * `load(job)`, which puts a closed loop of calls on it and resolves to the figures.
 */

const programs = {
  echoStdio: path('echo-stdio.mjs'),
  echoHttp: path('echo-http.mjs'),
  bareHop: path('bare-hop.mjs'),
  load: path('load.mjs'),
  library: path('load-library.mjs'),
  loopbackOnly: path('loopback-only.mjs'),
};

const startMs = 30_000;
const loadMs = 600_000;

/** Every contender, reference hops first. */
export function everyContender(bench) {
  return [
    directHttp(bench),
    bareStdio(bench),
    bareHttp(bench),
    ...hubs(bench, 'quartermaster'),
    ...(bench.before === undefined ? [] : hubs({ ...bench, qm: bench.before }, 'before')),
    library(bench, { name: 'library-stdio', upstream: 'stdio', servers: { echo: stdioServer() } }),
    mcpProxy(bench),
    supergateway(bench),
  ];
}

/** One build of the hub, as three contenders. */
function hubs(bench, name) {
  const stdio = { echo: stdioServer() };
  const http = async () => ({ echo: httpServer((await bench.echoHttp()).url) });
  return [
    quartermaster(bench, { name: `${name}-stdio`, upstream: 'stdio', servers: () => stdio }),
    quartermaster(bench, { name: `${name}-rules`, upstream: 'stdio', servers: () => stdio, rules: 10_000 }),
    quartermaster(bench, { name: `${name}-http`, upstream: 'http', servers: http }),
  ];
}

/** One HTTP upstream for whoever wants it. */
export function createEchoHttp(processes) {
  let started;
  return () => {
    started ??= startProgram(processes, 'echo-http', [programs.echoHttp]);
    return started;
  };
}

/** The upstream without any hop: what is left to gain. */
function directHttp(bench) {
  return {
    name: 'direct-http',
    upstream: 'http',
    start: async () => overHttp(bench, { ...(await bench.echoHttp()), tool: 'echo' }),
  };
}

export function bareStdio(bench, { name = 'bare-stdio', tools = 10 } = {}) {
  const args = [programs.bareHop, process.execPath, programs.echoStdio];
  const env = { TOOLS: String(tools) };
  return {
    name,
    upstream: 'stdio',
    start: async () => overHttp(bench, { ...(await startProgram(bench.processes, name, args, { env })), tool: 'echo' }),
  };
}

function bareHttp(bench) {
  const start = async () => {
    const upstream = await bench.echoHttp();
    const hop = await startProgram(bench.processes, 'bare-http', [programs.bareHop, upstream.url]);
    return overHttp(bench, { ...hop, tool: 'echo' });
  };
  return { name: 'bare-http', upstream: 'http', start };
}

export function quartermaster(bench, { name, upstream, servers, ...settings }) {
  return {
    name,
    upstream,
    async start() {
      const hub = await openHub(bench, name, { servers: await servers(), ...settings });
      return overHttp(bench, { ...hub, tool: 'echo' });
    },
  };
}

/** The hub as a library: the load is made in its own process, so its CPU holds that of the load too. */
export function library(bench, { name, upstream, servers, tools = 10 }) {
  return {
    name,
    upstream,
    async start() {
      const folder = bench.workspace(name, { servers });
      const hub = bench.processes.start(name, [programs.library, bench.library, folder, String(tools)]);
      await hub.nextLine(startMs);
      return {
        process: hub,
        async load(job) {
          hub.child.stdin.write(`${JSON.stringify({ ...job, tool: 'echo.echo' })}\n`);
          const figures = JSON.parse(await hub.nextLine(loadMs));
          if (figures.error !== undefined) throw new Error(figures.error);
          return figures;
        },
      };
    },
  };
}

function mcpProxy(bench) {
  return fromNpm(bench, 'mcp-proxy', (bin, port) => [
    bin,
    ...['--port', String(port), '--host', '127.0.0.1', '--server', 'stream'],
    ...['--', process.execPath, programs.echoStdio],
  ]);
}

/** It takes its upstream as a shell command, and has no option for the address it listens on. */
function supergateway(bench) {
  return fromNpm(bench, 'supergateway', (bin, port) => [
    ...['--import', programs.loopbackOnly, bin],
    ...['--stdio', `'${process.execPath}' '${programs.echoStdio}'`, '--outputTransport', 'streamableHttp'],
    ...['--stateful', '--port', String(port), '--logLevel', 'none'],
  ]);
}

function fromNpm(bench, name, argsFor) {
  return {
    name,
    upstream: 'stdio',
    async start() {
      installPackages();
      const port = await freePort();
      const gateway = bench.processes.start(name, argsFor(path(`node_modules/.bin/${name}`), port));
      await Promise.race([waitForPort(port, startMs), ended(gateway)]);
      return overHttp(bench, { process: gateway, url: `http://127.0.0.1:${port}/mcp`, tool: 'echo' });
    },
  };
}

function overHttp(bench, { process: hub, url, headers, tool }) {
  return {
    process: hub,
    async load(job) {
      const input = JSON.stringify({ kind: 'call', ...job, url, headers, tool });
      return JSON.parse(await bench.processes.run('load', [programs.load], { input, limitMs: loadMs }));
    },
  };
}

async function startProgram(processes, name, args, options) {
  const started = processes.start(name, args, options);
  const { url } = JSON.parse(await started.nextLine(startMs));
  return { process: started, url };
}

async function ended(gateway) {
  await gateway.closed;
  throw new Error(`${gateway.name} ended: ${gateway.complaint()}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => resolve(port));
      });
  });
}

function path(file) {
  return fileURLToPath(new URL(`../${file}`, import.meta.url));
}
