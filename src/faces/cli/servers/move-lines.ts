import { placeOf } from '../../../domain/index.ts';
import type { Colours } from '../terminal/colours.ts';
import { printableLine } from '../terminal/printable.ts';
import type { MovePlan } from './plan-move.ts';

export interface MovedSecret {
  readonly plan: MovePlan;
  /** Lines of the file that still contain the value. */
  readonly left: readonly number[];
}

/** What a move would change, without the secret. `hide` takes secrets out of a text. */
export function previewLines(
  { bold, red, green, yellow }: Colours,
  { literal, name, written }: MovePlan,
  hide: (text: string) => string,
): string[] {
  const { server, file, at } = literal;
  const note = otherReader(file, name);
  return [
    bold(`${placeOf({ file, line: at.line })}  server ${server}, ${printableLine(at.field)}`),
    red(`  - ${printableLine(hide(at.text))}`),
    green(`  + ${printableLine(hide(written))}`),
    `  The value is stored as ${name}.`,
    ...(note === undefined ? [] : [yellow(`  ${note}`)]),
  ];
}

/** Only the hub looks into the store. */
function otherReader(file: string, name: string): string | undefined {
  if (file === 'quartermaster.yaml') return undefined;
  const client = clients.find(([pattern]) => pattern.test(file))?.[1] ?? 'another program';
  return `If ${client} reads this file itself, it needs ${name} in its own environment from now on.`;
}

const clients: readonly (readonly [file: RegExp, client: string])[] = [
  [/^\.mcp\.json$/, 'Claude Code'],
  [/^\.vscode\//, 'VS Code'],
  [/^\.cursor\//, 'Cursor'],
  [/^\.gemini\//, 'Gemini CLI'],
  [/^opencode\.jsonc?$/, 'OpenCode'],
  [/^\.(?:github|copilot)\//, 'Copilot CLI'],
];

/** What remains to be done after the moves. */
export function remainingLines({ yellow }: Colours, moved: readonly MovedSecret[]): string[] {
  const names = [...new Set(moved.map(({ plan }) => plan.name))];
  const [what, name] = names.length === 1 ? ['this secret', names[0]] : ['these secrets', 'NAME'];
  return [
    ...moved.flatMap(({ plan: { literal, name: moved }, left }) => {
      const lines = left.slice(0, 5).join(', ');
      return left.length === 0
        ? []
        : [`${yellow('warning')} The value of ${moved} is still in ${literal.file}, line ${lines}: remove it there.`];
    }),
    `If others could read the file, or it is in version control, revoke ${what} and store a new value with \`qm secret set ${name}\`.`,
  ];
}
