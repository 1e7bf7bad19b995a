import { basename, extname } from 'node:path';

/** How a runtime finds the file that a name means. */
export type ScriptLookup =
  /** The file of that name. */
  | 'exact'
  /** Node's: with an ending, or what is in the folder of that name. */
  | 'node'
  /** A file, or `__main__.py` in the folder of that name. */
  | 'python'
  /** `python -m`. */
  | 'module'
  /** A program in `node_modules/.bin`. */
  | 'bin'
  /** Settings that say where packages come from. They count if they are there. */
  | 'settings';

export interface CodeWord {
  readonly text: string;
  readonly lookup: ScriptLookup;
}

/**
 * The words after a runtime's name that say what it runs: its script, and the values of flags that load code. The words
 * after the script are the script's own.
 */
export function scanWords(words: readonly string[]): readonly CodeWord[] {
  const found: CodeWord[] = [];
  let lookup: ScriptLookup | undefined;
  /** The next word is the value of a flag that loads code. */
  let value: ScriptLookup | undefined;
  let afterFlag = false;
  /** The next word is code. Then there is no script. */
  let [evaluates, hasCode] = [false, false];
  for (const word of words) {
    const next = evaluates ? undefined : lookupOf(word);
    if (next !== undefined) {
      if (lookup !== undefined && !hasCode) found.push({ text: word, lookup });
      [lookup, value, afterFlag, hasCode] = [next, undefined, false, false];
    } else if (lookup === undefined) continue;
    else if (evaluates) [evaluates, hasCode] = [false, true];
    else if (value !== undefined) {
      found.push({ text: word, lookup: value });
      [value, afterFlag] = [undefined, false];
    } else if (evaluating.test(word)) evaluates = true;
    else if (word.startsWith('-')) {
      const flag = word.split('=', 1)[0] ?? word;
      const loads = flagLookup(flag, lookup);
      if (loads !== undefined && word.includes('=')) found.push({ text: word.slice(flag.length + 1), lookup: loads });
      else value = loads;
      afterFlag = true;
    } else if (!subcommands.has(word) && !hasCode) {
      found.push({ text: word, lookup });
      // After a flag it may be the flag's value, and the script comes later.
      if (!afterFlag || scriptEndings.has(extname(word))) lookup = undefined;
      afterFlag = false;
    } else afterFlag = false;
  }
  return found;
}

/** How the program of that name finds its script. Undefined: it is not known to run scripts. */
export function lookupOf(word: string): ScriptLookup | undefined {
  const name = basename(word);
  if (name.length > longestName) return undefined;
  const [plain = ''] = withoutVersion.exec(name) ?? [];
  return version.test(name.slice(plain.length)) ? runtimes.get(plain) : undefined;
}

const longestName = 32;
/** `python` of `python3.12`. */
const withoutVersion = /^[A-Za-z]+(?:-[A-Za-z]+)*/;
const version = /^[-.\d]*(?:exe)?$/;

const runtimes: ReadonlyMap<string, ScriptLookup> = new Map([
  ...lookups('node', 'node nodejs bun deno tsx ts-node ts-node-esm ts-node-dev swc-node esno jiti vite-node nodemon'),
  ...lookups('python', 'python pypy uv'),
  ...lookups('bin', 'npx bunx pnpx npm pnpm yarn'),
  ...lookups('exact', 'sh bash zsh dash ksh fish ruby perl php lua luajit Rscript julia java pwsh tclsh osascript'),
]);

function lookups(lookup: ScriptLookup, names: string): [string, ScriptLookup][] {
  return names.split(' ').map((name) => [name, lookup]);
}

function flagLookup(flag: string, lookup: ScriptLookup): ScriptLookup | undefined {
  if (lookup === 'python' && flag === '-m') return 'module';
  return loading.has(flag) ? lookup : undefined;
}

const loading: ReadonlySet<string> = new Set(
  [
    '-r --require --import --loader --experimental-loader --preload --env-file --env-file-if-exists',
    '--import-map --config --tsconfig --experimental-config-file --snapshot-blob --rcfile --init-file',
    '-jar -cp -classpath --class-path -f',
  ].flatMap((flags) => flags.split(' ')),
);

/** `-e`, `-c`, also behind other letters: `bash -lc`. */
const evaluating = /^(?:-[a-z]{0,4}[cep]|--eval|--print)$/;

const subcommands: ReadonlySet<string> = new Set(['run', 'watch', 'exec', 'x', 'dlx', 'start', 'serve', 'tool']);

/** A file with one of these is code, wherever it is named. */
export const scriptEndings: ReadonlySet<string> = new Set(
  '.js .cjs .mjs .ts .cts .mts .jsx .tsx .node .wasm .py .pyz .rb .pl .php .lua .sh .bash .zsh .fish .ps1 .jar .r .jl'.split(
    ' ',
  ),
);
