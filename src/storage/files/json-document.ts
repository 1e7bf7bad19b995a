import { closeSync, fstatSync, readFile } from 'node:fs';
import { promisify } from 'node:util';
import type { z } from 'zod';
import { errnoOf, HubError } from '../../base/index.ts';
import { fileError } from './file-error.ts';
import type { WorkspaceLayout } from './layout.ts';
import { openFolderOf, statePlaceName } from './state-place.ts';

export interface FileRules {
  readonly maxBytes: number;
  /** What the operator can do about a damaged file, as a sentence. */
  readonly fix: string;
  /** Other users must not be able to read it. */
  readonly secret?: boolean;
}

export interface DocumentRules<T> extends FileRules {
  readonly schema: z.ZodType<T>;
}

/** The document, or undefined if there is none. A damaged document is an error and is not changed. */
export async function readJsonDocument<T>(
  layout: WorkspaceLayout,
  path: string,
  rules: DocumentRules<T>,
): Promise<T | undefined> {
  const text = await readSmallFile(layout, path, rules);
  if (text === undefined) return undefined;
  const parsed = rules.schema.safeParse(parseJson(text, path, rules.fix));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw damaged(path, `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'unexpected'}`, rules.fix);
}

/** The text of a regular file of limited size, or undefined if there is none. */
export async function readSmallFile(
  layout: WorkspaceLayout,
  path: string,
  { maxBytes, fix, secret = false }: FileRules,
): Promise<string | undefined> {
  const fd = openToRead(layout, path, secret);
  if (fd === undefined) return undefined;
  try {
    if (fstatSync(fd).size > maxBytes) throw damaged(path, `it is over ${maxBytes} bytes`, fix);
    return await promisify(readFile)(fd, 'utf8');
  } catch (error) {
    throw fileError(error, 'read', path);
  } finally {
    closeSync(fd);
  }
}

export function damaged(path: string, what: string, fix: string): HubError {
  return new HubError('CONFIG_INVALID', `${path} cannot be used: ${what}.`, { hint: fix, details: { path } });
}

function openToRead(layout: WorkspaceLayout, path: string, secret: boolean): number | undefined {
  try {
    const folder = openFolderOf(layout, path);
    try {
      if (folder === undefined) return undefined;
      return folder.open(statePlaceName(path), 'read', { secret });
    } finally {
      folder?.close();
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw fileError(error, 'read', path);
  }
}

function parseJson(text: string, path: string, fix: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may contain secrets.
    throw damaged(path, 'it is not valid JSON', fix);
  }
}
