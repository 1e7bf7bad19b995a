import { isJsonObject } from '../base/index.ts';
import { canonicalJson } from './json/canonical-json.ts';
import { uiDeclarationIn, uiExtension } from './ui/ui-extension.ts';

/** The part of a client's declaration that servers are told: the server requests it can answer, and MCP Apps. */
export interface ClientCapabilities {
  /** The declared elicitation, sampling, roots and MCP Apps as JSON with sorted keys; `{}` for none. */
  readonly text: string;
  /** It can answer no server request. */
  readonly nothing: boolean;
  /** It shows the user interfaces of tools (MCP Apps). */
  readonly showsUi: boolean;
  /** The same for a server that gets no roots. */
  readonly withoutRoots: ClientCapabilities;
  /** Whether the client can answer this server request. */
  canAnswer(method: string, params: Readonly<Record<string, unknown>>): boolean;
  /** The missing capability, for a JSON-RPC error -32021. Empty if none is missing. */
  missingFor(method: string, params: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** Invalid parts of the declaration count as not declared. */
export function clientCapabilitiesOf(declared: unknown): ClientCapabilities {
  // Most clients declare nothing, and some repeat that with each request.
  if (!isJsonObject(declared) || Object.keys(declared).length === 0) return noClientCapabilities;
  const capabilities = readCapabilities(declared);
  const ui = uiDeclarationIn(declared);
  const extensions = ui === undefined ? {} : { extensions: { [uiExtension]: knownUiParts(ui) } };
  // The declaration itself may be long, and sessions keep this.
  const known: Readonly<Record<string, unknown>> = { ...capabilities, ...extensions };
  let rootless: ClientCapabilities | undefined;
  const own: ClientCapabilities = {
    text: canonicalJson(known),
    nothing: Object.keys(capabilities).length === 0,
    showsUi: ui !== undefined,
    get withoutRoots() {
      const { roots, ...rest } = known;
      rootless ??= roots === undefined ? own : clientCapabilitiesOf(rest);
      return rootless;
    },
    canAnswer(method, params) {
      const need = needOf(method, params);
      return need !== undefined && covers(capabilities, need);
    },
    missingFor(method, params) {
      const need = needOf(method, params);
      return need === undefined || covers(capabilities, need) ? {} : missingPart(need);
    },
  };
  return own;
}

/** The same of a client that nothing can be asked before the answer. */
export function withoutServerRequests({ text }: ClientCapabilities): ClientCapabilities {
  const { extensions } = JSON.parse(text) as { extensions?: unknown }; // made above
  return extensions === undefined ? noClientCapabilities : clientCapabilitiesOf({ extensions });
}

export const noClientCapabilities: ClientCapabilities = {
  text: '{}',
  nothing: true,
  showsUi: false,
  get withoutRoots() {
    return noClientCapabilities;
  },
  canAnswer: () => false,
  missingFor(method, params) {
    const need = needOf(method, params);
    return need === undefined ? {} : missingPart(need);
  },
};

type Capability = 'elicitation' | 'sampling' | 'roots';
type Capabilities = Partial<Record<Capability, Readonly<Record<string, unknown>>>>;

/** What the protocol defines inside each, and nothing else: a client may write any amount, and sessions keep it. */
const knownParts: Readonly<Record<Capability, Readonly<Record<string, (value: unknown) => unknown>>>> = {
  elicitation: { form: (value) => flagsIn(value, ['applyDefaults']), url: (value) => flagsIn(value) },
  sampling: { tools: (value) => flagsIn(value), context: (value) => flagsIn(value) },
  roots: { listChanged: flag },
};

function readCapabilities(declared: Readonly<Record<string, unknown>>): Capabilities {
  const capabilities: Capabilities = {};
  for (const name of ['elicitation', 'sampling', 'roots'] as const) {
    const given = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (isJsonObject(given)) capabilities[name] = pick(given, knownParts[name]);
  }
  return capabilities;
}

function flagsIn(value: unknown, names: readonly string[] = []): unknown {
  return isJsonObject(value) ? pick(value, Object.fromEntries(names.map((name) => [name, flag]))) : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** The members of these names, as far as they are valid. */
function pick(
  given: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, (value: unknown) => unknown>>,
): Readonly<Record<string, unknown>> {
  const read = Object.entries(parts).map(
    ([part, readPart]) => [part, Object.hasOwn(given, part) ? readPart(given[part]) : undefined] as const,
  );
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** More types of content than there are, and few enough to travel with every request. */
const maxMimeTypes = 16;
const mimeType = /^[ -~]{1,100}$/;

function knownUiParts({ mimeTypes }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(mimeTypes)) return {};
  const texts = mimeTypes.filter((type) => typeof type === 'string' && mimeType.test(type));
  return { mimeTypes: texts.slice(0, maxMimeTypes) };
}

interface Need {
  readonly capability: Capability;
  readonly part?: string;
}

/** `includeContext` needs no capability: a client without `sampling.context` may omit the context. */
function needOf(method: string, params: Readonly<Record<string, unknown>>): Need | undefined {
  switch (method) {
    case 'elicitation/create':
      return elicitationNeed(params.mode ?? 'form');
    case 'sampling/createMessage': {
      const withTools = params.tools !== undefined || params.toolChoice !== undefined;
      return withTools ? { capability: 'sampling', part: 'tools' } : { capability: 'sampling' };
    }
    case 'roots/list':
      return { capability: 'roots' };
    default:
      return undefined;
  }
}

/** No client can declare a mode that the protocol does not define. */
function elicitationNeed(mode: unknown): Need | undefined {
  return mode === 'form' || mode === 'url' ? { capability: 'elicitation', part: mode } : undefined;
}

function missingPart({ capability, part }: Need): Record<string, unknown> {
  return { [capability]: part === undefined ? {} : { [part]: {} } };
}

function covers(capabilities: Capabilities, need: Need): boolean {
  const declared = capabilities[need.capability];
  if (declared === undefined) return false;
  if (need.part === undefined || Object.hasOwn(declared, need.part)) return true;
  // Before modes were introduced, a declaration without any mode meant forms.
  return need.part === 'form' && !Object.hasOwn(declared, 'url');
}
