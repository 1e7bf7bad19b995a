import type { CliContext } from './context.ts';

/** A command to copy, with `--workspace` if the workspace is not the current folder. */
export function nextCommand(
  { program, cwd }: Pick<CliContext, 'program' | 'cwd'>,
  workspace: string,
  rest: string,
): string {
  return workspace === cwd ? `${program} ${rest}` : `${program} ${rest} --workspace ${shellWord(workspace)}`;
}

export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
