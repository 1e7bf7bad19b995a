import { lineAt, type SourceMap } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { compileArgsMatch } from './match-arguments.ts';
import type { PermissionDocument } from './permission-schema.ts';

/** Finds what the shape of the file does not show: names that mean nothing, conditions that are not understood. */
export function checkPermissions(root: SourceMap, document: PermissionDocument): readonly Finding[] {
  return [...nameFindings(root, document), ...contextFindings(root, document), ...uselessFindings(root, document)];
}

type Path = readonly PropertyKey[];

function finding(root: SourceMap, path: Path, said: Pick<Finding, 'severity' | 'message' | 'fix'>): Finding {
  return { ...said, line: lineAt(root, path), field: dotted(...path), message: `Permissions: ${said.message}` };
}

function* namesIn(document: PermissionDocument): Generator<{ readonly name: string; readonly path: Path }> {
  const { tools = {}, environments = {}, context_rules = [], dangerous_patterns = [] } = document;
  for (const name of Object.keys(tools)) yield { name, path: ['tools', name] };
  for (const [environment, { overrides = {} }] of Object.entries(environments)) {
    for (const name of Object.keys(overrides)) yield { name, path: ['environments', environment, 'overrides', name] };
  }
  for (const [index, { condition }] of context_rules.entries()) {
    for (const key of ['tool', 'tool_pattern'] as const) {
      const name = condition[key];
      if (name !== undefined) yield { name, path: ['context_rules', index, 'condition', key] };
    }
  }
  for (const [index, { pattern }] of dangerous_patterns.entries())
    yield { name: pattern, path: ['dangerous_patterns', index, 'pattern'] };
}

const serverAndTool = /^[^?[\]]*[.*][^?[\]]*$/;

function* nameFindings(root: SourceMap, document: PermissionDocument): Generator<Finding> {
  for (const { name, path } of namesIn(document)) {
    if (serverAndTool.test(name)) continue;
    const message = `${quote(name)} is not server.tool, in which * is the only wildcard.`;
    yield finding(root, path, { severity: 'error', message, fix: 'Write the server, a dot and the tool.' });
  }
}

function* contextFindings(root: SourceMap, { context_rules = [] }: PermissionDocument): Generator<Finding> {
  for (const [index, { condition }] of context_rules.entries()) {
    const path = ['context_rules', index, 'condition'];
    const { tool, tool_pattern, args_match = {} } = condition;
    if (tool?.includes('*')) {
      const message = `"tool" names one tool, and ${quote(tool)} is a pattern.`;
      yield finding(root, [...path, 'tool'], { severity: 'error', message, fix: 'Write it as tool_pattern.' });
    }
    if (tool !== undefined && tool_pattern !== undefined) {
      const message = 'a condition has "tool" or "tool_pattern", not both.';
      yield finding(root, path, { severity: 'error', message, fix: 'Remove one of them.' });
    }
    if (compileArgsMatch(args_match) === undefined) {
      const message = 'the conditions on arguments are not understood.';
      const fix = 'Write a text with * and ?, a value, or { less_than, greater_than } for each argument.';
      yield finding(root, [...path, 'args_match'], { severity: 'error', message, fix });
    }
  }
}

/** What MAGSAG ignores as well, or what would widen. */
function* uselessFindings(root: SourceMap, document: PermissionDocument): Generator<Finding> {
  const { tools = {}, dangerous_patterns = [] } = document;
  const isAlways = (permission: string): boolean => permission.toLowerCase() === 'always';
  const paths: Path[] = [];
  for (const [name, written] of Object.entries(tools)) {
    const permission = typeof written === 'string' ? written : written.permission;
    if (name.includes('*') && isAlways(permission)) paths.push(['tools', name]);
  }
  for (const [index, { permission }] of dangerous_patterns.entries())
    if (isAlways(permission)) paths.push(['dangerous_patterns', index]);
  for (const path of paths) {
    const message = 'ALWAYS has no effect here.';
    const fix = 'Name each tool under "tools", or write the pattern under "overrides" of an environment.';
    yield finding(root, path, { severity: 'warning', message, fix });
  }
}
