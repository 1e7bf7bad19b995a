import { isJsonObject } from '../base/index.ts';
import { canonicalJson } from './canonical-json.ts';

/** What a client can be asked, as it declared it; nothing else of its declaration travels on. */
export interface Askable {
  /** The members elicitation, sampling and roots as declared, as JSON with sorted keys; `{}` for nothing. */
  readonly text: string;
  readonly nothing: boolean;
  /** Whether a request of this method with these params may be put to it. */
  canAnswer(method: string, params: Readonly<Record<string, unknown>>): boolean;
  /** For a JSON-RPC error -32021: the capability that is missing; empty when none is. */
  missingFor(method: string, params: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** Garbage in the declaration counts as not declared. */
export function askableOf(declared: unknown): Askable {
  // Most clients declare nothing, and some with each request.
  if (!isJsonObject(declared) || Object.keys(declared).length === 0) return askableNothing;
  const capabilities = readCapabilities(declared);
  return {
    text: canonicalJson(capabilities),
    nothing: Object.keys(capabilities).length === 0,
    canAnswer(method, params) {
      const need = needOf(method, params);
      return need !== undefined && covers(capabilities, need);
    },
    missingFor(method, params) {
      const need = needOf(method, params);
      return need === undefined || covers(capabilities, need) ? {} : missingPart(need);
    },
  };
}

export const askableNothing: Askable = {
  text: '{}',
  nothing: true,
  canAnswer: () => false,
  missingFor(method, params) {
    const need = needOf(method, params);
    return need === undefined ? {} : missingPart(need);
  },
};

type Capability = 'elicitation' | 'sampling' | 'roots';
type Capabilities = Partial<Record<Capability, Readonly<Record<string, unknown>>>>;

/** The members that the protocol defines, and what their values have to be. */
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

interface Need {
  readonly capability: Capability;
  readonly part?: string;
}

/** `includeContext` needs nothing: a client without `sampling.context` may leave the context out. */
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

/** A mode that the protocol does not know is one that nobody declares. */
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
  // From the time before modes: no mode at all means forms.
  return need.part === 'form' && !Object.hasOwn(declared, 'url');
}
