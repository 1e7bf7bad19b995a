import { delimiter, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOutside } from '../../../base/index.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a hub in the background. Variables with which Node loads code or settings of the workspace, where
 * agents write, are left out: the hub starts again and again, without anybody looking.
 */
export function hubEnvironment(env: Env, workspace: string): Env {
  const { NODE_OPTIONS, NODE_PATH, ...rest } = env;
  const options = nodeOptionsOutside(wordsOf(NODE_OPTIONS ?? ''), workspace).join(' ');
  const path = (NODE_PATH?.split(delimiter) ?? []).filter((folder) => isOutside(workspace, folder)).join(delimiter);
  return {
    ...rest,
    ...(options === '' ? {} : { NODE_OPTIONS: options }),
    ...(path === '' ? {} : { NODE_PATH: path }),
  };
}

/** Splits at spaces outside quotes, where a backslash keeps the next character, as Node does. */
function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at <= text.length; at++) {
    const character = text[at] ?? ' ';
    if (isQuoted && character === '\\') at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ' ' && (!isQuoted || at >= text.length)) {
      if (at > start) words.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return words;
}

/** Options of Node without those that load a file of the workspace, or one that is found from the working folder. */
export function nodeOptionsOutside(words: readonly string[], workspace: string): readonly string[] {
  const kept: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const [flag = ''] = word.split('=', 1);
    const takesNext = loading.has(flag) && !word.includes('=');
    const value = takesNext ? words[++index] : word.slice(flag.length + 1);
    if (loading.has(flag) && !isSelfContained(value ?? '') && !isOutside(workspace, pathOf(value ?? ''))) continue;
    kept.push(word, ...(takesNext && value !== undefined ? [value] : []));
  }
  return kept;
}

const loading: ReadonlySet<string> = new Set(
  [
    '-r --require --import --loader --experimental-loader --env-file --env-file-if-exists --snapshot-blob',
    '--experimental-config-file --openssl-config --icu-data-dir',
  ].flatMap((flags) => flags.split(' ')),
);

/** A module in the option itself. */
function isSelfContained(value: string): boolean {
  return value.startsWith('data:');
}

/** Empty for a name, which Node would look up from the working folder. */
function pathOf(value: string): string {
  const text = value.replace(/^"(.*)"$/s, '$1');
  if (isAbsolute(text)) return text;
  try {
    return fileURLToPath(text);
  } catch {
    return '';
  }
}
