import { constants, type FileHandle, open } from 'node:fs/promises';
import type { z } from 'zod';
import { errnoOf, HubError } from '../../base/index.ts';
import { fileError } from './file-error.ts';

export interface DocumentRules<T> {
  readonly schema: z.ZodType<T>;
  readonly maxBytes: number;
  /** What the operator loses by deleting a damaged file, as a sentence. */
  readonly fix: string;
}

/** The document, or undefined where there is none. A damaged one is an error and stays as it is. */
export async function readJsonDocument<T>(path: string, rules: DocumentRules<T>): Promise<T | undefined> {
  const text = await readSmallFile(path, rules.maxBytes, rules.fix);
  if (text === undefined) return undefined;
  const parsed = rules.schema.safeParse(parseJson(text, path, rules.fix));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw damaged(path, `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'unexpected'}`, rules.fix);
}

/** A regular file's text within a size, or undefined where there is none. */
export async function readSmallFile(path: string, maxBytes: number, fix: string): Promise<string | undefined> {
  const file = await openToRead(path);
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw damaged(path, 'it is not a regular file', fix);
    if (found.size > maxBytes) throw damaged(path, `it is over ${maxBytes} bytes`, fix);
    return await file.readFile('utf8');
  } catch (error) {
    throw fileError(error, 'read', path);
  } finally {
    await file.close();
  }
}

export function damaged(path: string, what: string, fix: string): HubError {
  return new HubError('CONFIG_INVALID', `${path} cannot be used: ${what}.`, { hint: fix, details: { path } });
}

async function openToRead(path: string): Promise<FileHandle | undefined> {
  try {
    // Without O_NONBLOCK a named pipe in this place would hang the hub.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw fileError(error, 'read', path);
  }
}

function parseJson(text: string, path: string, fix: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold what nobody should read.
    throw damaged(path, 'it is not valid JSON', fix);
  }
}
