import { Session } from 'node:inspector';
import { type CompiledPatterns, createStepCounter, TooMuchWork } from './regexp-steps.ts';

/**
 * Counts what functions do, whatever the machine: turns of loops in `src/` (V8's own block counts), steps of regular
 * expressions (run again by a machine that counts), and characters and elements that built-in functions pass over.
 */
export interface WorkCounter {
  /** Throws `TooMuchWork` above `most`. */
  count(work: () => unknown, most: number): Promise<number>;
  close(): void;
}

/** Modules must be imported after this: only then are their blocks counted. */
export async function createWorkCounter(): Promise<WorkCounter> {
  const session = new Session();
  session.connect();
  await post(session, 'Profiler.enable');
  await post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const programs: CompiledPatterns = new Map();
  return {
    async count(work, most) {
      await blockTurns(session);
      const steps = countBuiltins(work, most, programs);
      return steps + (await blockTurns(session));
    },
    close: () => session.disconnect(),
  };
}

function post(session: Session, method: string, params: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** Since they were last asked for. */
async function blockTurns(session: Session): Promise<number> {
  // The inspector's own words for it.
  const { result } = (await post(session, 'Profiler.takePreciseCoverage')) as Coverage;
  let turns = 0;
  for (const { url, functions } of result) {
    if (!url.includes('/src/')) continue;
    for (const { ranges } of functions) for (const { count } of ranges) turns += count;
  }
  return turns;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

function countBuiltins(work: () => unknown, most: number, programs: CompiledPatterns): number {
  let total = 0;
  const spend = (amount: number): void => {
    total += amount;
    if (total > most) throw new TooMuchWork(`more than ${most}`);
  };
  const restores = [countExec(spend, programs), countUrls(spend), ...costs.map((cost) => countMethod(cost, spend))];
  try {
    work();
  } finally {
    for (const restore of restores) restore();
  }
  return total;
}

interface Cost {
  readonly of: object;
  readonly names: readonly string[];
  readonly cost: (self: unknown, args: readonly unknown[], result: unknown) => number;
}

const lengthOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : value instanceof Uint8Array ? value.length : 1;

const costs: readonly Cost[] = [
  { of: String.prototype, names: ['indexOf', 'includes'], cost: searched },
  {
    of: String.prototype,
    names: ['lastIndexOf', 'trim', 'trimStart', 'trimEnd', 'toLowerCase', 'toUpperCase', 'normalize', 'localeCompare'],
    cost: lengthOf,
  },
  {
    of: String.prototype,
    names: ['slice', 'substring', 'padEnd', 'padStart', 'repeat'],
    cost: (_self, _args, result) => lengthOf(result),
  },
  { of: String.prototype, names: ['startsWith', 'endsWith'], cost: (_self, [part]) => lengthOf(part) },
  { of: String.prototype, names: ['split', 'replace', 'replaceAll'], cost: (self) => lengthOf(self) },
  {
    of: Array.prototype,
    names: ['shift', 'unshift', 'splice', 'indexOf', 'includes', 'reverse', 'concat', 'join'],
    cost: lengthOf,
  },
  { of: Array.prototype, names: ['slice'], cost: (_self, _args, result) => lengthOf(result) },
  { of: JSON, names: ['parse'], cost: (_self, [text]) => lengthOf(text) },
  { of: JSON, names: ['stringify'], cost: (_self, _args, result) => lengthOf(result) },
];

function searched(self: unknown, args: readonly unknown[], result: unknown): number {
  const from = typeof args[1] === 'number' ? args[1] : 0;
  return typeof result === 'number' && result >= 0 ? result - from + 1 : Math.max(1, lengthOf(self) - from);
}

function countMethod({ of, names, cost }: Cost, spend: (amount: number) => void): () => void {
  const methods = of as Record<string, Method>;
  const originals = names.map((name) => [name, methods[name]] as const);
  for (const [name, original] of originals) {
    if (original === undefined) continue;
    methods[name] = function (...args) {
      const result = original.apply(this, args);
      spend(cost(this, args, result));
      return result;
    };
  }
  return () => {
    for (const [name, original] of originals) if (original !== undefined) methods[name] = original;
  };
}

/** A URL is read together with its base. */
function countUrls(spend: (amount: number) => void): () => void {
  const original = globalThis.URL;
  globalThis.URL = class extends original {
    constructor(url: string | URL, base?: string | URL) {
      super(url, base);
      spend(`${url}${base ?? ''}`.length);
    }

    static override canParse(url: string, base?: string): boolean {
      spend(`${url}${base ?? ''}`.length);
      return original.canParse(url, base);
    }
  };
  return () => {
    globalThis.URL = original;
  };
}

/** Every method of texts that takes a pattern calls this one, once it is replaced. */
function countExec(spend: (amount: number) => void, programs: CompiledPatterns): () => void {
  const original = RegExp.prototype.exec;
  let counting = false;
  const counter = createStepCounter(spend, programs);
  RegExp.prototype.exec = function (text) {
    const from = this.global || this.sticky ? this.lastIndex : 0;
    const result = original.call(this, text);
    if (counting) return result;
    counting = true;
    try {
      const found = counter.exec(this, text, from);
      if (found?.index !== result?.index || (result !== null && found?.end !== result.index + result[0].length)) {
        throw new Error(
          `The counting machine and Node differ on ${this} at ${from} of ${JSON.stringify(text.slice(0, 80))}`,
        );
      }
    } finally {
      counting = false;
    }
    return result;
  };
  return () => {
    RegExp.prototype.exec = original;
  };
}
