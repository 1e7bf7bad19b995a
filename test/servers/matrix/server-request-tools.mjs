import { inputRequired } from '@modelcontextprotocol/server';
import { failed, nonced, said } from './words.mjs';

/**
 * Tools that ask back. `asks` holds one question after the other, each made from the signature and from the answers so
 * far; `tells` says what came of it.
 */
const tools = {
  ask_form: { asks: [(sign) => form(`${sign}:form`)], tells: ([reply]) => outcome(reply) },
  ask_url: {
    asks: [(sign) => inputRequired.elicitUrl({ message: `${sign}:url`, url: `https://example.com/?for=${sign}` })],
    tells: ([reply]) => reply.action,
  },
  ask_sampling: {
    asks: [
      (sign) =>
        inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: `${sign}:sampling` } }],
          maxTokens: 100,
        }),
    ],
    tells: ([reply]) => `${reply.model}:${reply.content.text}`,
  },
  ask_roots: {
    asks: [() => inputRequired.listRoots()],
    tells: ([reply]) => reply.roots.map(({ uri }) => uri).join(),
  },
  ask_twice: {
    asks: [(sign) => form(`${sign}:first`), (sign, [first]) => form(`${sign}:second after ${outcome(first)}`)],
    tells: ([, second]) => outcome(second),
  },
};

/** The handshake era asks while the call runs; the newer one answers with the question, and is called again. */
export function registerQuestionTools(server, { era, label, codec }) {
  for (const [name, tool] of Object.entries(tools)) {
    const run = era === 'legacy' ? askWhileRunning(tool) : answerWithQuestion(tool, codec);
    server.registerTool(name, { description: `Asks the client: ${name}`, inputSchema: nonced }, ({ nonce }, ctx) =>
      run(`${label}:${nonce}`, ctx),
    );
  }
}

function askWhileRunning({ asks, tells }) {
  return async (sign, ctx) => {
    const replies = [];
    for (const ask of asks) {
      const { method, params } = ask(sign, replies);
      const byUrl = params?.mode === 'url';
      replies.push(await ctx.mcpReq.send({ method, params: byUrl ? { ...params, elicitationId: sign } : params }));
      if (byUrl) {
        await ctx.mcpReq.notify({ method: 'notifications/elicitation/complete', params: { elicitationId: sign } });
      }
    }
    return said(`${sign}:${tells(replies)}`);
  };
}

function answerWithQuestion({ asks, tells }, codec) {
  return async (sign, ctx) => {
    const state = ctx.mcpReq.requestState() ?? { sign, replies: undefined };
    if (state.sign !== sign) return failed(`${sign} came back with the state of ${state.sign}`);
    const replies = state.replies ?? [];
    if (state.replies !== undefined) {
      const reply = ctx.mcpReq.inputResponses?.[`${sign}:${replies.length}`];
      if (reply === undefined) return failed(`${sign} came back without an answer`);
      replies.push(reply);
    }
    const ask = asks[replies.length];
    if (ask === undefined) return said(`${sign}:${tells(replies)}`);
    return inputRequired({
      inputRequests: { [`${sign}:${replies.length}`]: ask(sign, replies) },
      requestState: await codec.mint({ sign, replies }),
    });
  };
}

function form(message) {
  const answer = { type: 'string', description: 'Anything' };
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { answer }, required: ['answer'] },
  });
}

function outcome({ action, content }) {
  return content === undefined || content === null ? action : `${action}:${content.answer}`;
}
