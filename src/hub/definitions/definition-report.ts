import type { DefinitionChange, LockMode } from '../../domain/index.ts';
import { allDefinitions, type ServerDefinitions, type UpstreamHandles } from '../../upstream/index.ts';

/** What one server lists, and how it differs from the accepted definitions. For operators only. */
export interface DefinitionReport {
  readonly server: string;
  /** Undefined: no lockfile. The definitions count that were seen first. */
  readonly mode: LockMode | undefined;
  /** The lists were read over the connection that is open now. */
  readonly isLive: boolean;
  readonly definitions: readonly ReportedDefinition[];
  readonly changes: readonly ReportedChange[];
}

export interface ReportedDefinition {
  readonly kind: DefinitionChange['kind'];
  /** The server's own name. Empty for instructions. */
  readonly name: string;
  readonly fingerprint: string;
}

export interface ReportedChange extends DefinitionChange {
  /** The accepted text. Absent if this hub never saw it. */
  readonly before?: string;
  /** The text that the server lists. Absent if it lists none. */
  readonly after?: string;
}

/** Undefined if the server never listed anything. `redact` takes secrets out of texts. */
export function reportDefinitions(
  { control, dispatch }: UpstreamHandles,
  redact: (text: string) => string,
): DefinitionReport | undefined {
  const { definitions: known, failure, spec } = control;
  if (known === undefined) return undefined;
  const all = allDefinitions(known.listed);
  return {
    server: spec.name,
    mode: known.lock?.mode,
    isLive: dispatch.connection !== undefined && failure === undefined,
    definitions: all.map(({ kind, name, fingerprint }) => ({ kind, name, fingerprint })),
    changes: known.changes.length === 0 ? [] : withTexts(known, redact),
  };
}

function withTexts(
  { listed, former, changes }: ServerDefinitions,
  redact: (text: string) => string,
): readonly ReportedChange[] {
  const textsBy = (texts: typeof former): ReadonlyMap<string, string> =>
    new Map(texts.map(({ kind, name, text }) => [`${kind} ${name}`, redact(text)]));
  const [old, now] = [textsBy(former), textsBy(allDefinitions(listed))];
  return changes.map((change) => {
    const { kind, name, from = name } = change;
    const [before, after] = [old.get(`${kind} ${from}`), now.get(`${kind} ${name}`)];
    return { ...change, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
}
