import { basename } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { splitHeader, variable } from '../servers/add-order.ts';

export interface InspectTargetOptions {
  readonly header?: readonly string[];
  readonly env?: readonly string[];
}

/** What `qm inspect` looks at: a configured server, or one that is only given on the command line. */
export type InspectTarget =
  | { readonly kind: 'configured'; readonly server: string }
  | { readonly kind: 'url'; readonly url: string; readonly headers: readonly (readonly [string, string])[] }
  | {
      readonly kind: 'program';
      readonly words: readonly [command: string, ...args: string[]];
      readonly env: readonly (readonly [string, string])[];
    };

export function readInspectTarget(
  words: readonly string[],
  { header = [], env = [] }: InspectTargetOptions,
  hasDashes: boolean,
): InspectTarget {
  const [first = '', ...rest] = words;
  if (hasDashes) {
    if (header.length > 0) throw usage('--header does not apply to a program.', 'Remove it.');
    return { kind: 'program', words: [first, ...rest], env: env.map(variable) };
  }
  if (rest.length > 0) {
    throw usage(
      'One server at a time can be inspected.',
      'Name one server or one URL, or write -- before a program: `qm inspect -- PROGRAM ARGS…`.',
    );
  }
  if (env.length > 0)
    throw usage(
      '--env applies to a program only.',
      'Name the program after --: `qm inspect --env NAME=VALUE -- PROGRAM ARGS…`.',
    );
  if (/^https?:\/\//i.test(first)) return { kind: 'url', url: first, headers: header.map(literalHeader) };
  if (first.includes('://'))
    throw usage('Only http and https URLs can be inspected.', 'Name a server, or correct the URL.');
  if (header.length > 0) throw usage('--header applies to a URL only.', 'The headers of a server are in its file.');
  return { kind: 'configured', server: first };
}

/** Sent as it is: a variable that the shell did not expand would be sent as text. */
function literalHeader(line: string): readonly [string, string] {
  const { name, value, isEmpty } = splitHeader(line, '"Authorization: Bearer $TOKEN"');
  if (isEmpty) throw usage(`--header ${name} has no value.`, 'If it is a variable, set it in this shell first.');
  if (!/\$\{[A-Za-z_]\w*\}|(?:^|\s)\$[A-Z_]+$/.test(value)) return [name, value];
  throw usage(
    `The variable in --header ${name} is not expanded.`,
    `In double quotes the shell expands it: --header "${name}: Bearer $TOKEN".`,
  );
}

/** A short name for messages, and for `qm add`. */
export function targetName(target: Exclude<InspectTarget, { kind: 'configured' }>): string {
  const text = target.kind === 'url' ? hostOf(target.url) : programName(target.words);
  const plain = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '');
  let end = plain.length;
  while (end > 0 && '-.'.includes(plain[end - 1] ?? '')) end -= 1;
  return plain.slice(0, Math.min(end, 64)) || 'server';
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : 'server';
}

const runners: readonly string[] = [
  'npx',
  'npm',
  'pnpm',
  'pnpx',
  'bunx',
  'uvx',
  'uv',
  'pipx',
  'docker',
  'node',
  'python',
  'python3',
];

/** Of a runner, the package or script that it runs. Many scripts are called index.js, in a folder called dist. */
function programName([command, ...args]: readonly [string, ...string[]]): string {
  const run = runners.includes(basename(command))
    ? args.find((word) => /^[@A-Za-z./][\w@./:-]*$/.test(word))
    : undefined;
  const path = (run ?? command).replace(/(?<=.)@[^/@]*$/, '').replace(/\.[cm]?[jt]s$|\.py$/, '');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.findLast((part) => !/^(?:index|main|server|dist|build|lib|src|bin)$/.test(part)) ?? basename(path);
}

function usage(message: string, hint: string): HubError {
  return new HubError('USAGE', message, { hint });
}
