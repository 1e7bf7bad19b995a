import { z } from 'zod';
import { didYouMean } from '../base/index.ts';
import { lineAt, type SourceNode, toPlain } from './files/source-tree.ts';
import { dotted, type Finding, quote } from './findings.ts';
import { looksRestrictiveOnServer } from './restrictions/restriction-words.ts';

export interface CheckOptions {
  /** Dotted path of the node within its file. */
  readonly field: string;
  /** Starts each message: `Server "files"`, `Agent "tester"`, or the section. */
  readonly subject: string;
  readonly server?: string;
  /** Unknown keys are errors in our own format and warnings in others. */
  readonly unknownKeys: 'error' | 'warning';
  /** Keys that restrict agents. A key that looks like a typo of one of them is an error. */
  readonly guards?: readonly string[] | undefined;
}

/** Checks one part of a file: its shape, unknown keys and repeated keys. */
export function checkNode(schema: z.ZodType, node: SourceNode, options: CheckOptions): Finding[] {
  const findings = findRepeatedKeys(node, options);
  const result = schema.safeParse(toPlain(node));
  for (const issue of result.success ? [] : result.error.issues.flatMap(meantIssues)) {
    if (issue.code === 'unrecognized_keys') {
      const known = keysAt(schema, issue.path);
      for (const key of issue.keys) findings.push(unknownKey(node, issue.path, key, known, options));
    } else {
      findings.push({
        ...place(node, issue.path, options),
        severity: 'error',
        message: `${options.subject}: ${issue.path.length === 0 ? 'it' : quote(dotted(...issue.path))} ${describeIssue(issue)}.`,
        fix: fixOf(issue),
      });
    }
  }
  return cut(findings, options);
}

/** A value of several possible shapes is judged by the one that it resembles: a map as a map, a list of maps as one. */
function meantIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const resembling = issue.errors.filter((issues) => !issues.some(isAboutWhole));
  const [meant, ...others] = resembling;
  if (meant === undefined || others.length > 0 || !meant.some(isInsideMap)) return [issue];
  return meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] })).flatMap(meantIssues);
}

function isInsideMap({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys' || path.some((step) => typeof step === 'string');
}

function isAboutWhole({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union');
}

/** Nobody reads more at once, and the first ones are usually the cause. */
const maxFindings = 50;

function cut(findings: Finding[], options: CheckOptions): Finding[] {
  if (findings.length <= maxFindings) return findings;
  const more: Finding = {
    ...serverOf(options),
    severity: findings.some((finding) => finding.severity === 'error') ? 'error' : 'warning',
    field: options.field,
    message: `${options.subject}: there are ${findings.length - maxFindings} more problems.`,
    fix: 'Fix the first ones and check again.',
  };
  return [...findings.slice(0, maxFindings), more];
}

/** Finds repeated keys at any depth, and `__proto__`, which no JavaScript object holds safely. */
function findRepeatedKeys(node: SourceNode, options: CheckOptions): Finding[] {
  const findings: Finding[] = [];
  visit(node, []);
  return findings;

  function visit(here: SourceNode, path: readonly PropertyKey[]): void {
    if (here.kind === 'list') for (const [index, item] of here.items.entries()) visit(item, [...path, index]);
    if (here.kind !== 'map') return;
    const lines = new Map<string, number>();
    for (const { key, line, value } of here.entries) {
      const field = dotted(options.field, ...path, key);
      const known = { ...serverOf(options), severity: 'error', line, field } as const;
      const first = lines.get(key);
      if (first !== undefined) findings.push({ ...known, ...repeated(options.subject, key, first, line) });
      if (key === '__proto__') {
        findings.push({ ...known, message: `${options.subject}: "__proto__" cannot be a key.`, fix: 'Remove it.' });
      }
      lines.set(key, first ?? line);
      visit(value, [...path, key]);
    }
  }
}

export function repeated(
  subject: string,
  key: string,
  first: number,
  second: number,
): Pick<Finding, 'message' | 'fix'> {
  return {
    message: `${subject}: ${quote(key)} is written twice, in line ${first} and in line ${second}.`,
    fix: 'Keep one of them.',
  };
}

function unknownKey(
  node: SourceNode,
  path: readonly PropertyKey[],
  key: string,
  known: readonly string[],
  options: CheckOptions,
): Finding {
  const near = didYouMean(key, known);
  const where = path.length === 0 ? '' : ` in ${quote(dotted(...path))}`;
  const isGuard = near !== undefined && options.guards?.includes(near) === true;
  if (options.unknownKeys === 'warning' && !isGuard && mayRestrict(path, key)) {
    return {
      ...place(node, [...path, key], options),
      severity: 'error',
      message: `${options.subject}: the key ${quote(key)}${where} looks like a restriction but is not recognized.`,
      fix: 'Write it as a rule in quartermaster.yaml, under policies, and remove it here.',
    };
  }
  const severity = isGuard ? 'error' : options.unknownKeys;
  return {
    ...place(node, [...path, key], options),
    severity,
    message: `${options.subject}: the key ${quote(key)}${where} is unknown${severity === 'warning' ? ' and ignored' : ''}.`,
    fix: near === undefined ? `Known keys are ${known.join(', ')}.` : `Did you mean "${near}"?`,
  };
}

/** Every key under these restricts. */
const restrictingParts: ReadonlySet<PropertyKey> = new Set(['limits', 'permissions']);

function mayRestrict(path: readonly PropertyKey[], key: string): boolean {
  return path.some((step) => restrictingParts.has(step)) || looksRestrictiveOnServer(key);
}

function place(
  node: SourceNode,
  path: readonly PropertyKey[],
  options: CheckOptions,
): Pick<Finding, 'line' | 'field' | 'server'> {
  return { ...serverOf(options), line: lineAt(node, path), field: dotted(options.field, ...path) };
}

function serverOf(options: CheckOptions): Pick<Finding, 'server'> {
  return options.server === undefined ? {} : { server: options.server };
}

/** In our own words, and without the value, which may be a misplaced secret. */
function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords.get(issue.expected) ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return `must be ${unionWords(issue)}`;
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
        : 'must not be empty';
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return 'is not valid';
  }
}

function fixOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type') return 'Correct the value, or remove the key.';
  return typeFixes.get(issue.expected) ?? 'Correct the value, or remove the key.';
}

/** The wording fits JSON, YAML and TOML. */
const typeFixes: ReadonlyMap<string, string> = new Map([
  ['string', 'Write it in quotes.'],
  ['number', 'Write the number, without quotes.'],
  ['int', 'Write the number, without quotes.'],
  ['boolean', 'Write true or false, without quotes.'],
  ['array', 'Put it into square brackets: ["…"].'],
  ['object', 'Write names with values: { … }.'],
  ['record', 'Write names with values: { … }.'],
]);

const typeWords: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a map'],
  ['record', 'a map'],
]);

function unionWords(issue: z.core.$ZodIssueInvalidUnion): string {
  const words = new Set<string>();
  for (const [first] of issue.errors) {
    if (first?.code === 'invalid_value') return `one of ${first.values.map(String).join(', ')}`;
    if (first?.code === 'invalid_type' && first.path.length === 0)
      words.add(typeWords.get(first.expected) ?? 'something else');
    // A list, as expected, but with a wrong item.
    else if (typeof first?.path[0] === 'number') words.add('a list of texts');
  }
  // Text, number and boolean together mean any scalar, read as text.
  if (words.has('text') && words.has('a number')) return 'text';
  return words.size === 0 ? 'text or a list of texts' : [...words].join(' or ');
}

/** The keys that the schema knows at this path. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const here = unwrap(schema);
  const [step, ...rest] = path;
  if (here instanceof z.ZodObject) {
    if (step === undefined) return Object.keys(here.shape).filter((key) => !isIgnored(here.shape[key]));
    const next: z.core.$ZodType | undefined = here.shape[String(step)];
    return next === undefined ? [] : keysAt(next, rest);
  }
  if (here instanceof z.ZodRecord) return keysAt(here.valueType, rest);
  if (here instanceof z.ZodArray) return keysAt(here.element, rest);
  // Only one of the shapes has keys at any path.
  if (here instanceof z.ZodUnion)
    return here.options.map((option) => keysAt(option, path)).find((keys) => keys.length > 0) ?? [];
  return [];
}

/** All top-level keys of the schema, including ignored ones. */
export function knownKeys(schema: z.core.$ZodType): ReadonlySet<string> {
  const here = unwrap(schema);
  return new Set(here instanceof z.ZodObject ? Object.keys(here.shape) : []);
}

/** Any value is accepted, so suggestions omit the key. */
function isIgnored(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && unwrap(schema) instanceof z.ZodUnknown;
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema;
}
