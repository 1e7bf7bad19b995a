/** What may import what. A new edge is a decision: it edits this table in its own commit, with the reason. */

export interface Room {
  /** Rooms whose index this room may import; `faces/*` stands for every room in that folder. */
  readonly imports: readonly string[];
  /** Rooms of which it may import types only. */
  readonly types?: readonly string[];
}

const ground = ['base', 'domain', 'mcp'];
const features = ['config', 'vault', 'upstream', 'governance', 'ledger', 'trust', 'approvals'];
/** A face answers for a hub; tokens are checked where the request arrives, by a book that is handed in. */
const face: Room = { imports: [...ground, 'hub'], types: ['calls', 'governance', 'approvals'] };
/** Between two requests of a client its calls wait and its resources are watched; `calls` holds both on its behalf. */
const mcpFace: Room = { imports: [...face.imports, 'calls'], types: ['governance'] };

export const rooms: Readonly<Record<string, Room>> = {
  base: { imports: [] },
  domain: { imports: ['base'] },
  mcp: { imports: ['base', 'domain'] },
  ...Object.fromEntries(features.map((feature) => [feature, { imports: ground }])),
  // Implements the stores that features declare, so it knows their types and nothing else of them.
  storage: { imports: ['base', 'domain'], types: [...features, 'clients'] },
  // What of the files is trusted, for a hub and for commands that start none.
  'workspace-trust': { imports: [...ground, 'config', 'storage', 'trust', 'vault'] },
  // What a call passes through; the connections themselves are handed in.
  calls: { imports: [...ground, 'governance', 'ledger'], types: ['upstream', 'approvals'] },
  hub: { imports: [...ground, ...features, 'calls', 'storage', 'workspace-trust'] },
  // Changes what people wrote, text by text, and knows nothing of what it means.
  'workspace-files': { imports: ['base'] },
  // Which files other programs have, and how they are written there.
  clients: { imports: ['base', 'workspace-files'] },
  'apps/*': face,
  // An MCP server of our own, for whichever app wants to be one.
  'apps/serving': { imports: ground },
  // They run in a hub and as programs of their own; a hub knows them by the type it declares.
  'apps/builtin': { imports: [...ground, 'apps/serving'], types: ['hub'] },
  // What both MCP faces answer alike.
  'faces/mcp': mcpFace,
  'faces/mcp-http': { ...mcpFace, imports: [...mcpFace.imports, 'faces/mcp'] },
  // Another way for messages to travel, behind the same door.
  'faces/mcp-sse': { ...face, imports: [...face.imports, 'faces/mcp', 'faces/mcp-http'] },
  'faces/mcp-stdio': { ...face, imports: [...face.imports, 'faces/mcp'] },
  // The operator's socket: clients that attach speak to the same face as a client on pipes.
  'faces/control': { ...face, imports: [...face.imports, 'faces/attach', 'faces/mcp-stdio'] },
  // The other end of it. A command that only passes messages on must not load a hub.
  'faces/attach': { imports: ground },
  'faces/api': face,
  // A page for people, with the facts that the API has.
  'faces/approval-page': { ...face, imports: [...face.imports, 'faces/api'] },
  'faces/metrics': face,
  // What calls come to, for a collector of traces; the hub is handed a tracer.
  'faces/telemetry': face,
  // One port for the HTTP faces; the API comes in as a function, so that hono loads only when it is asked.
  'faces/gateway': { ...face, imports: [...face.imports, 'faces/mcp-http', 'faces/mcp-sse'] },
  'faces/library': { imports: [...ground, 'hub', 'config', 'apps/builtin'], types: [...features, 'calls'] },
  // The composition root: commands on files, tokens and decisions work without starting a hub.
  'faces/cli': {
    imports: [
      ...ground,
      'hub',
      'config',
      'governance',
      'ledger',
      'storage',
      'trust',
      'vault',
      'clients',
      'workspace-files',
      'workspace-trust',
      'apps/*',
      'faces/*',
    ],
    types: ['upstream', 'calls', 'approvals'],
  },
  // src/index.ts, the public library.
  root: { imports: ['base', 'domain', 'hub', 'faces/library'], types: [...features, 'calls'] },
};

export interface PackageRule {
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly why: string;
}

const tracing: PackageRule = { only: ['faces/telemetry'], why: 'calls know a tracer, not whose it is' };

/** Packages that src/ may import at all, and where. */
export const packages: Readonly<Record<string, PackageRule>> = {
  undici: { only: ['upstream'], why: 'one door to servers' },
  pg: { only: ['apps/builtin'], why: "it reads other people's databases" },
  'pg-connection-string': { only: ['apps/builtin'], why: "it reads other people's databases" },
  'libpg-query': { only: ['apps/builtin'], why: "it reads other people's SQL" },
  htmlparser2: { only: ['apps/builtin'], why: "it reads other people's pages" },
  hono: { only: ['faces/api', 'faces/approval-page'], why: 'the MCP endpoint is plain node:http' },
  '@hono/node-server': { only: ['faces/api', 'faces/approval-page'], why: 'the MCP endpoint is plain node:http' },
  commander: { only: ['faces/cli'], why: 'only the command line reads argv' },
  '@opentelemetry/api': tracing,
  '@opentelemetry/core': tracing,
  '@opentelemetry/exporter-trace-otlp-proto': tracing,
  '@opentelemetry/resources': tracing,
  '@opentelemetry/sdk-trace-base': tracing,
  re2js: { only: ['config'], why: 'one place decides how long a pattern may take' },
  yaml: { only: ['config', 'workspace-files'], why: 'only they know what people wrote' },
  'smol-toml': { only: ['config'], why: 'only config reads what people wrote' },
  'jsonc-parser': { only: ['workspace-files'], why: 'only they edit what people wrote' },
  'toml-eslint-parser': { only: ['workspace-files'], why: 'only they edit what people wrote' },
  zod: { except: ['mcp', 'calls'], why: 'the path of a call checks by hand, for speed' },
};

/** Entry points and the packages they must not load before they are needed. */
export const lazyPackages: Readonly<Record<string, readonly string[]>> = {
  'src/index.ts': ['undici', 'hono', '@hono/node-server', 'commander'],
  'src/faces/cli/main.ts': ['undici', '@opentelemetry/api'],
};

/** Parts of `process` that only some rooms may touch. */
export const processParts: Readonly<Record<string, readonly string[]>> = {
  env: ['faces/cli', 'faces/library'],
  argv: ['faces/cli'],
  exit: ['faces/cli'],
};

/** Rooms that may name what acts on an upstream for a caller. */
export const dispatchRooms: readonly string[] = ['upstream', 'calls', 'hub'];

export interface Allowance {
  readonly file: string;
  readonly uses: readonly string[];
  readonly why: string;
}

/** The only files that take time and randomness from the machine; everybody else gets a Clock or RandomBytes. */
export const machineAllowances: readonly Allowance[] = [
  { file: 'src/base/clock.ts', uses: ['Date.now', 'performance.now', 'setTimeout'], why: 'it is the clock' },
  { file: 'src/base/ids.ts', uses: ['randomBytes'], why: 'it is the source of randomness' },
];

export const forbiddenWords: readonly string[] = [
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'manager',
  'managers',
  'service',
  'services',
];

export const maxFolderFiles = 25;
export const maxFileLines = 400;
export const maxFunctionLines = 60;
export const maxClassMembers = 45;

/** Classes over the bound. A new entry needs its reason. */
export const largeClasses: Readonly<Record<string, { readonly members: number; readonly why: string }>> = {
  JournalLedger: { members: 55, why: 'one file, one failure state and one queue belong to all of its operations' },
};

export interface LongFunctions {
  readonly file: string;
  /** The length of its longest function. */
  readonly lines: number;
  /** Why splitting the function would make it harder to read. */
  readonly why: string;
}

/** Files with a function over the bound, the functions inside it included. None now; a new entry needs its reason. */
export const longFunctions: readonly LongFunctions[] = [];
