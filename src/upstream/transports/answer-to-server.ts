import { type ClientResponse, rawErrorReply, resultReply, type ServerRequest } from '../../mcp/index.ts';

/** The only request that the hub itself answers. */
export const pong: ClientResponse = { kind: 'result', text: '{}' };

export function isPing({ method }: ServerRequest): boolean {
  return method === 'ping';
}

/** The answer to a server's request, as a message. */
export function answerMessage(id: string | number, { kind, text }: ClientResponse): string {
  const idText = JSON.stringify(id);
  return kind === 'result' ? resultReply(idText, text) : rawErrorReply(idText, text);
}
