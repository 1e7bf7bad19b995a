import { child, entryOf, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { AccessDraft, ServerPlace } from '../servers/server-draft.ts';
import { booleanAt, textsAt } from '../texts.ts';

/** Reads a server's access settings from quartermaster.yaml. */
export function readAccess(node: SourceNode, findings: Finding[], place: ServerPlace): AccessDraft {
  const written = ['scopes', 'readOnly', 'writeRequiresApproval'].flatMap((key) => entryOf(node, key)?.line ?? []);
  return {
    scopes: readScopes(node, ['scopes'], findings, place),
    readOnly: booleanAt(node, 'readOnly') ?? false,
    writeRequiresApproval: booleanAt(node, 'writeRequiresApproval') ?? false,
    trustAnnotations: booleanAt(node, 'trustAnnotations') ?? false,
    line: written[0] ?? place.line,
  };
}

/** Reads the scopes at a path. Warns about a scope that runs programs. */
export function readScopes(
  node: SourceNode,
  path: readonly [string, ...string[]],
  findings: Finding[],
  place: ServerPlace,
): readonly string[] | undefined {
  const keys = path.slice(0, -1);
  const last = path[path.length - 1] ?? '';
  const holder = keys.reduce<SourceNode | undefined>((here, key) => child(here, key), node);
  const list = child(holder, last);
  for (const [index, item] of (list?.kind === 'list' ? list.items : []).entries()) {
    if (item.kind !== 'scalar' || !/^exec(?:ute)?:/i.test(item.text)) continue;
    findings.push({
      severity: 'warning',
      line: item.line,
      field: dotted(place.field, ...path, index),
      server: place.name,
      message: `Server ${quote(place.name)}: the scope ${quote(item.text)} lets agents run programs.`,
      fix: 'Remove it unless the work needs it, and put such tools under require-approval.',
    });
  }
  return textsAt(holder, last);
}
