import {
  type ConfiguredServer,
  type Problem,
  placeOf,
  type ServerAccess,
  type ServerRestriction,
  type ServerSpec,
  type SourceRef,
  type ToolFilter,
} from '../../domain/index.ts';
import { quote, toProblem } from '../findings.ts';
import type { ResolvedServer } from '../servers/resolve-server.ts';
import type { ServerDraft } from '../servers/server-draft.ts';

export interface HiddenEntry {
  readonly draft: ServerDraft;
  readonly resolved: ResolvedServer;
  readonly file: string;
}

/** The restrictions in a weaker file stay in force, whichever file defines the transport. */
export function inherit(
  winner: ConfiguredServer,
  { draft, resolved, file }: HiddenEntry,
): { readonly server: ConfiguredServer; readonly problem?: Problem } {
  const place = { file, line: draft.line };
  if (draft.unclear === true) {
    const problem = unclearProblem(draft, place);
    return { server: spoiled(winner, problem), problem };
  }
  if (winner.kind !== 'ready' || draft.body === undefined) return { server: winner };
  const { limits, restrictedBy } = winner.spec;
  const rates = [limits.ratePerMin, draft.body.limits.ratePerMin].filter((rate) => rate !== undefined);
  const spec = {
    ...winner.spec,
    limits: { ...limits, ratePerMin: rates.length === 0 ? undefined : Math.min(...rates) },
    restrictedBy: [...restrictedBy, ...resolved.restrictions.filter((each) => !says(winner.spec, each))],
  };
  return { server: draft.body.enabled ? { kind: 'ready', spec } : switchOff({ kind: 'ready', spec }, place) };
}

/** Whether the server's own entry already says the same, as with the same server in several clients' files. */
function says(spec: ServerSpec, { tools, access, rules }: ServerRestriction): boolean {
  const text = (filter: ToolFilter, statement: ServerAccess | undefined): string => {
    const { scopes, readOnly, writeRequiresApproval } = statement ?? {};
    return JSON.stringify([filter.include, filter.exclude, scopes, readOnly, writeRequiresApproval]);
  };
  return rules === undefined && text(tools, access) === text(spec.tools, spec.access);
}

/** Reports the first place that disables the server. */
export function switchOff(server: ConfiguredServer, place: SourceRef): ConfiguredServer {
  if (server.kind !== 'ready' || !server.spec.enabled) return server;
  return { kind: 'ready', spec: { ...server.spec, enabled: false, disabledBy: place } };
}

function unclearProblem({ name, line, field, findings }: ServerDraft, { file }: SourceRef): Problem {
  const why = findings.find(({ severity }) => severity === 'error');
  return toProblem(file, {
    severity: 'error',
    line: why?.line ?? line,
    field: why?.field ?? field,
    server: name,
    message:
      `Server ${quote(name)}: its entry in ${placeOf({ file, line })} may contain a restriction but is not recognized. ${why?.message ?? ''}`.trim(),
    fix: why?.fix ?? 'Correct that entry, or remove it.',
  });
}

function spoiled(winner: ConfiguredServer, problem: Problem): ConfiguredServer {
  if (winner.kind === 'invalid') return { ...winner, unclear: true, problems: [...winner.problems, problem] };
  const { name, source, hides } = winner.kind === 'ready' ? winner.spec : winner;
  return { kind: 'invalid', name, source, hides, problems: [problem], unclear: true };
}
