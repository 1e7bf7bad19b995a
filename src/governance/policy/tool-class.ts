import type { PolicyRule, ServerSpec, ToolClass, ToolDefinition, ToolHints } from '../../domain/index.ts';
import { recogniseServer } from './recognise-server.ts';
import { compileToolKind } from './tool-kind.ts';

/** What a tool is, and what it may be if its server's annotations are true. */
export interface ToolClasses {
  readonly certain: ToolClass;
  readonly possible: ReadonlySet<ToolClass>;
}

export type ToolClassesOf = (tool: string, hints: ToolHints | null) => ToolClasses;

/**
 * The list of known servers comes first, then annotations. A destructive tool also writes, so rules that restrict
 * writing restrict it too: a server must not escape one rule by calling its tool worse than it is.
 */
export function compileToolClass(spec: ServerSpec): ToolClassesOf {
  const known = recogniseServer(spec);
  const kindOf = compileToolKind(spec);
  return (tool, hints) => {
    const certain = certainClass();
    const possible = new Set<ToolClass>([certain]);
    if (certain === 'destructive') possible.add('write');
    if (hints?.readOnly === true) possible.add('read');
    if (hints?.destructive === true && certain !== 'read' && !known?.writes.has(tool)) possible.add('destructive');
    return { certain, possible };

    function certainClass(): ToolClass {
      if (kindOf(tool, hints).kind === 'reads') return 'read';
      if (known?.destroys.has(tool)) return 'destructive';
      return hints?.destructive === true && !known?.writes.has(tool) ? 'destructive' : 'write';
    }
  };
}

/** The class of one tool, for people. */
export function toolClassOf(spec: ServerSpec, { name, hints }: Pick<ToolDefinition, 'name' | 'hints'>): ToolClass {
  return compileToolClass(spec)(name, hints).certain;
}

/** A tool of a server that is not configured, or of one that nobody approved. */
export const unknownClasses: ToolClasses = { certain: 'write', possible: new Set(['read', 'write', 'destructive']) };

/** Resources and prompts. */
export const readClasses: ToolClasses = { certain: 'read', possible: new Set(['read']) };

/** A rule that allows needs certainty. For one that restricts, a possibility is enough. */
export function appliesToClass({ kind, effect }: PolicyRule, { certain, possible }: ToolClasses): boolean {
  return kind === undefined || (effect === 'allow' ? kind === certain : possible.has(kind));
}
