import { type Question, type QuestionAnswer, rawErrorReply, resultReply } from '../../mcp/index.ts';

/** Nothing but this is ever asked of the hub itself. */
export const pong: QuestionAnswer = { kind: 'result', text: '{}' };

export function isPing({ method }: Question): boolean {
  return method === 'ping';
}

/** The answer to a server's question as a message. */
export function answerMessage(id: string | number, { kind, text }: QuestionAnswer): string {
  const idText = JSON.stringify(id);
  return kind === 'result' ? resultReply(idText, text) : rawErrorReply(idText, text);
}
