import type { PlanFile, ServerPlan } from '../domain/index.ts';
import type { TrustItem } from './trust-item.ts';

/** What an item says, one statement per line, for people and for comparing two versions. Values of files are left out. */
export function itemLines(item: TrustItem): readonly string[] {
  const rights = [...linesOf('', item.rights)];
  return item.kind === 'policy' ? rights : [...planLines(item.plan), ...rights];
}

/** The lines that went (`-`) and came (`+`). Values are not shown, only that another one came. */
export function changedLines(before: TrustItem | undefined, after: TrustItem): readonly string[] {
  const old = before === undefined ? [] : itemLines(before);
  const now = itemLines(after);
  const [gone, come] = [new Set(now), new Set(old)];
  return [
    ...old.filter((line) => !gone.has(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !come.has(line)).map((line) => `+ ${line}`),
    ...otherValues(before, after).map((name) => `+ another value from a file of the workspace: ${name}`),
  ];
}

function otherValues(before: TrustItem | undefined, after: TrustItem): readonly string[] {
  if (before?.kind !== 'server' || after.kind !== 'server') return [];
  const old = before.plan.values;
  return [...after.plan.values].flatMap(([name, value]) => (old.has(name) && old.get(name) !== value ? [name] : []));
}

function planLines({ transports, values, files, reaches }: ServerPlan): readonly string[] {
  return [
    ...transports.flatMap(({ type, texts }, index) => {
      const place = index === 0 ? '' : `fallback.${index - 1}.`;
      return [`${place}type: ${type}`, ...texts.map(([field, text]) => `${place}${field}: ${text}`)];
    }),
    ...[...values.keys()].sort().map((name) => `value from a file of the workspace: ${name}`),
    ...files.map(fileLine),
    ...reaches.map((place) => `may reach ${place}`),
  ];
}

function fileLine(file: PlanFile): string {
  switch (file.kind) {
    case 'file':
      return `file ${file.path}: ${file.sha256.slice(0, 16)}`;
    case 'large':
      return `file ${file.path}: too large to check`;
    case 'link':
      return `link ${file.path}: to ${file.target}`;
    case 'absent':
      return `file ${file.path}: not there yet`;
  }
}

function* linesOf(path: string, value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    if (value.length === 0) yield `${path}: none`;
    for (const each of value) yield* isPlain(each) ? [`${path}: ${textOf(each)}`] : linesOf(path, each);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (member !== undefined) yield* linesOf(path === '' ? key : `${path}.${key}`, member);
    }
  } else yield `${path}: ${textOf(value)}`;
}

/** A text, or a rule as `[pattern, effect]`. */
function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || (Array.isArray(value) && value.every((part) => typeof part === 'string'));
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(' ') : String(value);
}
