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
  let rootless: ClientCapabilities | undefined;
  const own: ClientCapabilities = {
    text: canonicalJson({ ...capabilities, ...extensions }),
    nothing: Object.keys(capabilities).length === 0,
    showsUi: ui !== undefined,
    get withoutRoots() {
      const { roots, ...rest } = declared;
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

/** The members that the protocol defines, with a check for their values. */
const knownParts: Readonly<Record<Capability, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  elicitation: { form: isJsonObject, url: isJsonObject },
  sampling: { tools: isJsonObject, context: isJsonObject },
  roots: { listChanged: (value) => typeof value === 'boolean' },
};

function readCapabilities(declared: unknown): Capabilities {
  const capabilities: Capabilities = {};
  if (!isJsonObject(declared)) return capabilities;
  for (const name of ['elicitation', 'sampling', 'roots'] as const) {
    const given = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (!isJsonObject(given)) continue;
    const known = new Map(Object.entries(knownParts[name]));
    capabilities[name] = Object.fromEntries(
      Object.entries(given).filter(([part, value]) => known.get(part)?.(value) ?? true),
    );
  }
  return capabilities;
}

/** More types of content than there are, and few enough to travel with every request. */
const maxMimeTypes = 16;

function knownUiParts({ mimeTypes }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(mimeTypes)) return {};
  const texts = mimeTypes.filter((type) => typeof type === 'string' && type.length <= 100);
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
