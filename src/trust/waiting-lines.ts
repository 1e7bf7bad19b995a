import { changedLines, itemLines } from './item-lines.ts';
import type { TrustItem } from './trust-item.ts';

/**
 * The changed lines that wait for approval. What both versions allow is in force meanwhile, so a line that can only
 * restrict took effect at once and is left out.
 */
export function waitingLines(before: TrustItem | undefined, after: TrustItem): readonly string[] {
  const lines = changedLines(before, after);
  if (before === undefined) return lines;
  const [old, now] = [valuesOf(before), valuesOf(after)];
  return lines.filter((line) => {
    const [path, value] = partsOf(line.slice(2));
    const statement = { path, value, old: old.get(path), now: now.get(path), had: old.has('lock.mode') };
    return !(line.startsWith('+') ? restricts(statement) : restrictsWithout(statement));
  });
}

interface Statement {
  readonly path: string;
  readonly value: string;
  /** All values under this path in the old and in the new version; undefined without any. */
  readonly old: readonly string[] | undefined;
  readonly now: readonly string[] | undefined;
  /** The old version was in a lockfile. Otherwise every definition was accepted. */
  readonly had: boolean;
}

function isOfLock(path: string): boolean {
  return path.startsWith('lock.');
}

/** Whether a new line restricts, whatever stands beside it. */
function restricts(statement: Statement): boolean {
  const { path, value, old, had } = statement;
  // The names of tools are part of these paths.
  if (isOfLock(path)) return !had || value === 'enforce';
  switch (lastName(path)) {
    case 'policy':
    case 'rules':
      return value.endsWith(' deny');
    case 'exclude':
      return true;
    case 'include':
      return old === undefined || value === 'none';
    case 'readOnly':
    case 'writeRequiresApproval':
      return value === 'true';
    case 'enabled':
      return value === 'false';
    default:
      return isLowered(statement);
  }
}

/** Whether a line that went leaves less than before. */
function restrictsWithout(statement: Statement): boolean {
  const { path, value, now } = statement;
  if (isOfLock(path)) return path !== 'lock.mode' && path !== 'lock.instructions';
  switch (lastName(path)) {
    case 'policy':
    case 'rules':
      return value.endsWith(' allow');
    // Without any line there is no list, and everything is offered.
    case 'include':
    case 'servers':
      return now !== undefined && value !== 'none';
    case 'trustAnnotations':
      return value === 'true';
    case 'enabled':
      return value === 'true' && now?.[0] === 'false';
    default:
      return isLowered(statement);
  }
}

/** A limit is a number, and the lower one of both versions is in force. */
function isLowered({ path, old, now }: Statement): boolean {
  if (!lowestCounts.test(path) || now === undefined) return false;
  return old === undefined || Number(now[0]) < Number(old[0]);
}

const lowestCounts = /^(?:limits\.\w+|serve\.(?:maxBodyBytes|clientSessionIdleMs|maxClientSessions))$/;

function valuesOf(item: TrustItem): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const line of itemLines(item)) {
    const [path, value] = partsOf(line);
    const known = values.get(path);
    if (known === undefined) values.set(path, [value]);
    else known.push(value);
  }
  return values;
}

function partsOf(line: string): readonly [path: string, value: string] {
  const colon = line.indexOf(': ');
  return [line.slice(0, colon), line.slice(colon + 2)];
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
