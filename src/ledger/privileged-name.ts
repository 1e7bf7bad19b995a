/**
 * Whether a tool's name suggests that it changes or runs something. A name is only a hint:
 * rules decide, this only counts.
 */
export function isPrivilegedName(tool: string): boolean {
  if (/write|delete|execute/i.test(tool)) return true;
  return wordsOf(tool).some((word) => words.has(word));
}

const words: ReadonlySet<string> = new Set(
  'exec eval run shell bash command remove rm drop truncate purge destroy kill edit modify update patch put insert create add append upload move rename push merge commit deploy publish send install uninstall grant revoke chmod chown'.split(
    ' ',
  ),
);

/** `gitPush-all` becomes git, push, all. */
function wordsOf(tool: string): string[] {
  return tool
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}
