import { errorTable, explainError, type HubError } from '../base/index.ts';

/** Builds a JSON-RPC response from parts that are already JSON text. */
export function resultReply(idText: string, resultText: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":${resultText}}`;
}

/** `errorText` is the JSON text of a JSON-RPC error object. */
export function rawErrorReply(idText: string, errorText: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"error":${errorText}}`;
}

/** Pass `code` if the client's protocol version uses a different code than the error table. */
export function errorReply(idText: string, error: HubError, code: number = errorTable[error.code].jsonRpc): string {
  const { retryable } = errorTable[error.code];
  const isDefect = error.code === 'INTERNAL';
  const data = { code: error.code, retryable, ...(isDefect ? {} : error.details) };
  // The message of a defect goes only to the log, because it may name files on this machine.
  const message = isDefect ? 'Something went wrong inside the hub; its log says what.' : explainError(error);
  return rawErrorReply(idText, JSON.stringify({ code, message, data }));
}

export function notification(method: string, params?: unknown): string {
  return JSON.stringify(params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params });
}
