import type { Context } from 'hono';
import type { z } from 'zod';
import { GatheredBytes, HubError } from '../../base/index.ts';

/** Orders are small; nobody has reason to send more. */
const maxBodyBytes = 64 * 1024;

/** The order in the body of a request. */
export async function readInput<T>(context: Context, schema: z.ZodType<T>, whenEmpty = ''): Promise<T> {
  const text = (await readText(context.req.raw.body)) || whenEmpty;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HubError('PARSE_ERROR', 'The body is not valid JSON.', { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new HubError(
    'INVALID_PARAMS',
    `${issue?.path.join('.') || 'The body'}: ${issue?.message ?? 'not as expected'}.`,
  );
}

/** Counts what arrives: a length that was announced need not be true, and may be absent. */
async function readText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const bytes = new GatheredBytes();
  for await (const chunk of body ?? []) {
    bytes.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    if (bytes.size > maxBodyBytes) throw new HubError('REQUEST_TOO_LARGE', `The body is over ${maxBodyBytes} bytes.`);
  }
  return bytes.take().toString('utf8');
}
