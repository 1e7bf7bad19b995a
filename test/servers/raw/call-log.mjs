import { appendFileSync } from 'node:fs';
import { sliceOf } from './slice.mjs';

/**
 * Files that tests compare with what the hub says it sent.
 * CALL_LOG gets one line {"tool","id","arguments"} per tools/call received, with the arguments as they came.
 * INITIALIZE_LOG gets one line {"client"} per `initialize` received.
 * CANCEL_LOG gets one line {"tool","id"} per call that was cancelled while it ran.
 */
export function logCall(message, text) {
  if (!process.env.CALL_LOG) return;
  // A line break can only stand between tokens of valid JSON, so replacing it changes no value.
  const slice = (sliceOf(text, ['params', 'arguments']) ?? 'null').replace(/[\r\n]+/g, ' ');
  const head = `{"tool":${JSON.stringify(message.params?.name)},"id":${JSON.stringify(message.id)}`;
  append(process.env.CALL_LOG, `${head},"arguments":${slice}}\n`);
}

export function logInitialize({ params }) {
  append(process.env.INITIALIZE_LOG, `${JSON.stringify({ client: params?.clientInfo?.name })}\n`);
}

export function logCancel({ tool, id }) {
  append(process.env.CANCEL_LOG, `${JSON.stringify({ tool, id })}\n`);
}

function append(file, line) {
  if (file) appendFileSync(file, line);
}
