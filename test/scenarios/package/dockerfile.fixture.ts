import { execFile } from 'node:child_process';
import { chown, cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export interface Instruction {
  readonly word: string;
  readonly text: string;
}

/** The instructions of each stage, in order. */
export function readStages(dockerfile: string): Instruction[][] {
  const stages: Instruction[][] = [];
  const lines = dockerfile.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  for (const line of lines.split('\n').filter((each) => each.trim() !== '')) {
    const [, word = '', text = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (word === 'FROM') stages.push([]);
    stages.at(-1)?.push({ word, text });
  }
  return stages;
}

/** The user that an image names, if the tests may become another one; otherwise whoever runs them, who is not root then. */
export const imageUser =
  process.getuid?.() === 0
    ? { uid: 65_534, gid: 65_534 }
    : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

/**
 * Plays a stage in a folder that stands for the root of its image: COPY copies, RUN runs. No container engine is needed,
 * so paths are translated, and what installs system packages is left out and returned.
 */
export async function playStage(
  stage: readonly Instruction[],
  folders: { readonly image: string; readonly context: string; readonly from: Readonly<Record<string, string>> },
): Promise<{ readonly left: readonly string[] }> {
  const { image, context, from } = folders;
  let workdir = '/';
  const left: string[] = [];
  for (const { word, text } of stage) {
    if (word === 'WORKDIR') {
      workdir = text;
      await mkdir(join(image, text), { recursive: true });
    }
    if (word === 'COPY') {
      const [, stageName] = /^--from=(\w+) /.exec(text) ?? [];
      const source = stageName === undefined ? context : (from[stageName] ?? '');
      await copy(text.replace(/^--from=\w+ /, '').split(' '), source, (path) => join(image, workdir, path));
    }
    if (word !== 'RUN') continue;
    if (text.startsWith('apt-get ')) left.push(text);
    else
      await promisify(execFile)('sh', ['-ec', translate(text, image)], { cwd: join(image, workdir), env: buildEnv() });
  }
  return { left };
}

async function copy(paths: readonly string[], source: string, inImage: (path: string) => string): Promise<void> {
  const target = paths.at(-1) ?? '';
  for (const path of paths.slice(0, -1)) {
    // A folder is copied by its content, a file into a folder by its name.
    const to = target.startsWith('/') ? inImage(join('/', '..', target)) : inImage(target);
    const isInto = target.endsWith('/') && path !== '.';
    await mkdir(dirname(to), { recursive: true });
    await cp(join(source, path), isInto ? join(to, path) : to, { recursive: true });
  }
}

/** Absolute paths are below the image's folder, and its user is the one of the tests. */
function translate(command: string, image: string): string {
  return command
    .replaceAll(/ (\/(?:out|state|workspace|opt|usr\/local)\b)/g, (_, path: string) => ` ${image}${path}`)
    .replaceAll('-o node', `-o ${imageUser.uid}`)
    .replaceAll('-g node', `-g ${imageUser.gid}`);
}

function buildEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, npm_config_cache, npm_config_registry } = process.env;
  return { PATH, HOME, npm_config_cache, npm_config_registry, npm_config_prefer_offline: 'true' };
}

/** The files that the engine would be sent, by .dockerignore, which lists what may come in. */
export async function copyContext(repository: string, context: string): Promise<void> {
  const rules = (await readFile(join(repository, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  if (rules[0] !== '*' || rules.slice(1).some((rule) => !/^![\w.-]+$/.test(rule))) {
    throw new Error('.dockerignore must shut everything out first and then name single files and folders.');
  }
  for (const name of rules.slice(1).map((rule) => rule.slice(1))) {
    await cp(join(repository, name), join(context, name), { recursive: true });
  }
}

/** Hands a folder to the image's user. */
export function giveToImageUser(path: string): Promise<void> {
  return chown(path, imageUser.uid, imageUser.gid);
}
