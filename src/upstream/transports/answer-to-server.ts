/**
 * A shared connection cannot tell for whom a server asks, so nothing is offered that a server might
 * ask for. An answer is still owed: a server that waits for one would hang.
 */
export function answerToServer(id: string | number, method: string): string {
  const idText = JSON.stringify(id);
  if (method === 'ping') return `{"jsonrpc":"2.0","id":${idText},"result":{}}`;
  return `{"jsonrpc":"2.0","id":${idText},"error":{"code":-32601,"message":"Not offered by this client"}}`;
}
