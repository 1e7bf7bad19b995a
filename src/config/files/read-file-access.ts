import { readScopes } from '../agents/read-access-settings.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { AccessDraft, ServerPlace, WrittenText } from '../servers/server-draft.ts';
import { booleanAt, textAt } from '../texts.ts';
import { child, entryOf, isNull, lineAt, type SourceNode } from './source-tree.ts';

/** Reads the access settings of a server with its own file: `permissions`, `scopes`, `options.read_only`. */
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

/** The older and the newer key must agree. Otherwise it is unclear which one is meant. */
function bothScopes(node: SourceNode, findings: Finding[], place: ServerPlace): readonly string[] | undefined {
  // `sync` writes out empty lists that its source does not have. The source, if present, applies too.
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

/** A restriction without a readable value is in force. */
function readReadOnly(options: SourceNode | undefined): boolean | WrittenText {
  const entry = entryOf(options, 'read_only');
  if (entry === undefined) return false;
  const { value, line } = entry;
  if (value.kind !== 'scalar' || isNull(value)) return true;
  return typeof value.value === 'boolean' ? value.value : { text: value.text, line, field: 'options.read_only' };
}
