import type { ToolFilter } from '../../domain/index.ts';
import { child, entryOf, lineAt, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { booleanAt, textsAt } from '../texts.ts';
import type { ServerPlace } from './server-draft.ts';

/** Whether a server is enabled. Clients write `enabled`, `disabled`, or both. */
export function readEnabled(node: SourceNode, findings: Finding[], place: ServerPlace): boolean {
  const [enabled, disabled] = [booleanAt(node, 'enabled'), booleanAt(node, 'disabled')];
  if (enabled === true && disabled === true) {
    findings.push({
      severity: 'warning',
      line: lineAt(node, ['disabled']),
      field: dotted(place.field, 'disabled'),
      server: place.name,
      message: `Server ${quote(place.name)}: it is both enabled and disabled, and stays disabled.`,
      fix: 'Keep one of the two.',
    });
  }
  return enabled !== false && disabled !== true;
}

/** The server's allowed tools: `tools`, or `allowedTools` in some formats. */
export function readToolList(node: SourceNode, findings: Finding[], place: ServerPlace): ToolFilter {
  const second = entryOf(node, 'allowedTools');
  if (second !== undefined && entryOf(node, 'tools') !== undefined) {
    findings.push({
      severity: 'error',
      line: second.line,
      field: dotted(place.field, 'allowedTools'),
      server: place.name,
      message: `Server ${quote(place.name)}: it has both "tools" and "allowedTools".`,
      fix: 'Keep one of the two lists.',
    });
  }
  const include = textsAt(node, 'tools') ?? textsAt(node, 'allowedTools');
  return include === undefined ? {} : { include };
}

/** The same for a file that is one server, where the list may also be under `permissions`. */
export function readFileTools(node: SourceNode, findings: Finding[], place: ServerPlace): ToolFilter {
  const listed = readToolList(node, findings, place);
  const permitted = child(child(node, 'permissions'), 'tools');
  const isEmptyMap = permitted?.kind === 'map' && permitted.entries.length === 0;
  if (permitted === undefined || isEmptyMap) return listed;
  if (permitted.kind === 'list' && listed.include === undefined) {
    return { include: textsAt(child(node, 'permissions'), 'tools') ?? [] };
  }
  findings.push({
    severity: 'error',
    line: lineAt(node, ['permissions', 'tools']),
    field: dotted(place.field, 'permissions.tools'),
    server: place.name,
    message:
      permitted.kind === 'list'
        ? `Server ${quote(place.name)}: it lists tools under "permissions" and elsewhere.`
        : `Server ${quote(place.name)}: rules for single tools are ignored here.`,
    fix:
      permitted.kind === 'list'
        ? 'Keep one of the lists.'
        : 'Move them to quartermaster.yaml, under policies.tools, as server.tool.',
  });
  return listed;
}
