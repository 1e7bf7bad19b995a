import type { ToolFilter } from '../domain/index.ts';
import { dotted, type Finding, quote } from './problems.ts';
import type { ServerPlace } from './server-draft.ts';
import { entryOf, lineAt, type SourceNode } from './source-tree.ts';
import { booleanAt, textsAt } from './texts.ts';

/** Whether a server is on: clients write `enabled`, `disabled`, or both. */
export function readEnabled(node: SourceNode, findings: Finding[], place: ServerPlace): boolean {
  const [enabled, disabled] = [booleanAt(node, 'enabled'), booleanAt(node, 'disabled')];
  if (enabled === true && disabled === true) {
    findings.push({
      severity: 'warning',
      line: lineAt(node, ['disabled']),
      field: dotted(place.field, 'disabled'),
      server: place.name,
      message: `Server ${quote(place.name)}: it is both enabled and disabled, and stays off.`,
      fix: 'Keep one of the two.',
    });
  }
  return enabled !== false && disabled !== true;
}

/** Which tools a server offers at all: `tools`, or `allowedTools` as some call it. */
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
