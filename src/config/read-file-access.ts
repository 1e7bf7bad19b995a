import { dotted, type Finding, quote } from './problems.ts';
import { readScopes } from './read-access.ts';
import type { AccessDraft, ServerPlace, WrittenText } from './server-draft.ts';
import { child, entryOf, isNull, lineAt, type SourceNode } from './source-tree.ts';
import { booleanAt, textAt } from './texts.ts';

/** What a server may be used for, as a file of its own says it: `permissions`, `scopes`, `options.read_only`. */
export function readFileAccess(node: SourceNode, findings: Finding[], place: ServerPlace): AccessDraft {
  const written = ['permissions', 'scopes', 'options'].flatMap((key) => entryOf(node, key)?.line ?? []);
  return {
    scopes: bothScopes(node, findings, place),
    readOnly: readReadOnly(child(node, 'options')),
    writeRequiresApproval: booleanAt(child(node, 'permissions'), 'write_requires_approval') ?? false,
    trustAnnotations: false,
    line: written[0] ?? place.line,
  };
}

/** The older key and the newer one say the same thing, or nobody can tell which is meant. */
function bothScopes(node: SourceNode, findings: Finding[], place: ServerPlace): readonly string[] | undefined {
  // What `sync` makes spells out lists that its source does not have; the source, where it is there, counts too.
  const written = (scopes: readonly string[] | undefined) =>
    scopes?.length === 0 && isMade(node) ? undefined : scopes;
  const older = written(readScopes(node, ['scopes'], findings, place));
  const newer = written(readScopes(node, ['permissions', 'scope'], older === undefined ? findings : [], place));
  if (older === undefined || newer === undefined) return older ?? newer;
  const [first, second] = [new Set(older), new Set(newer)];
  if (first.size !== second.size || older.some((scope) => !second.has(scope))) {
    findings.push({
      severity: 'error',
      line: lineAt(node, ['scopes']),
      field: dotted(place.field, 'scopes'),
      server: place.name,
      message: `Server ${quote(place.name)}: "scopes" and "permissions.scope" differ.`,
      fix: 'Keep one of the two lists.',
    });
  }
  return older;
}

function isMade(node: SourceNode): boolean {
  return textAt(child(node, 'metadata'), 'source_digest') !== undefined;
}

/** A guard that is written but has no readable value is up. */
function readReadOnly(options: SourceNode | undefined): boolean | WrittenText {
  const entry = entryOf(options, 'read_only');
  if (entry === undefined) return false;
  const { value, line } = entry;
  if (value.kind !== 'scalar' || isNull(value)) return true;
  return typeof value.value === 'boolean' ? value.value : { text: value.text, line, field: 'options.read_only' };
}
