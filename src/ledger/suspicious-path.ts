/** A value in a call's arguments that looks like a path out of the workspace. */
export interface SuspiciousValue {
  /** Its place in the line, in jq syntax: `.args.files[2]`. */
  readonly at: string;
  readonly value: string;
  readonly why: PathSuspicion;
}

/** `parent`: goes up with `..`. `home`: starts in a home folder. `absolute`: lies outside the workspace. */
export type PathSuspicion = 'parent' | 'home' | 'absolute';

/** Returns the first such value. `roots` are the paths of the workspace itself. */
export function findSuspiciousPath(args: unknown, roots: readonly string[]): SuspiciousValue | undefined {
  // An explicit stack: arguments may be nested deeper than the call stack allows.
  const waiting: { readonly at: string; readonly value: unknown }[] = [{ at: '.args', value: args }];
  for (let looked = 0; looked < maxValues; looked++) {
    const next = waiting.pop();
    if (next === undefined) return undefined;
    const { at, value } = next;
    if (typeof value === 'string') {
      const why = suspicionOf(value, roots);
      if (why !== undefined) return { at, value: shortened(value), why };
    } else if (Array.isArray(value)) {
      for (let index = Math.min(value.length, maxValues) - 1; index >= 0; index--)
        waiting.push({ at: `${at}[${index}]`, value: value[index] });
    } else if (typeof value === 'object' && value !== null) {
      const members = Object.entries(value).slice(0, maxValues).reverse();
      for (const [key, member] of members) waiting.push({ at: at + memberPath(key), value: member });
    }
  }
  return undefined;
}

/** Whether JSON text may contain such a value. Says yes too often, never too rarely, and costs less than parsing it. */
export function mayLeadOut(json: string): boolean {
  return leadsOut.test(json);
}

/** An escape may hide any character, and a percent sign a dot; a path begins a string, or follows `file:`. */
const leadsOut = /\.\.|[\\%~$]|"\/|"[A-Za-z]:|file:/i;

const maxValues = 10_000;
const longestPath = 4096;
const shownCharacters = 200;

/** Text with several lines is content, not a path: a file being written may well mention `../`. */
function suspicionOf(text: string, roots: readonly string[]): PathSuspicion | undefined {
  if (text.length > longestPath || /[\n\r]/.test(text)) return undefined;
  const path = plainPath(text);
  if (goesUp.test(path)) return 'parent';
  if (startsAtHome.test(path)) return 'home';
  if (/^[A-Za-z]:[\\/]/.test(path)) return 'absolute';
  // Two slashes start a comment or a URL without its scheme.
  if (!/^\/(?!\/)/.test(path)) return undefined;
  return roots.some((root) => path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`))
    ? undefined
    : 'absolute';
}

/** Matches `..` as a whole segment, or in a command after a word separator; not `HEAD~1..HEAD`. */
const goesUp = /(?:^|[\\/])\.\.(?:[\\/]|$)|[\s"'=:,;(]\.\.[\\/]/;
const startsAtHome = /^(?:~(?:[A-Za-z_][\w.-]*)?|\$HOME|\$\{HOME\})(?:[\\/]|$)/;

/** Removes disguises of a path: a `file:` scheme and percent encoding. */
function plainPath(text: string): string {
  const local = text.replace(/^file:\/\/(?:localhost)?(?=\/)/i, '');
  return /%(?:2e|2f|5c|7e)/i.test(local) || local !== text ? decoded(local) : local;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function memberPath(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(shortened(key))}]`;
}

function shortened(text: string): string {
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}
