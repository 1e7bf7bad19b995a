/** Gemini's generateContent and streamGenerateContent, as Gemini CLI speaks them. */
export const geminiContent = {
  matches: (path) => /:(streamG|g)enerateContent$/.test(path),

  read(body) {
    const declared = (body.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations);
    const parts = (body.contents ?? []).flatMap((content) => content.parts ?? []);
    return {
      tools: declared.map(({ name }) => ({ name })),
      results: parts
        .filter(({ functionResponse }) => functionResponse !== undefined)
        .map(({ functionResponse }) => textOf(functionResponse.response)),
    };
  },

  write(reply, { path }) {
    const part = reply.call
      ? { functionCall: { name: reply.call.tool.name, args: reply.call.args } }
      : { text: reply.say };
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    return path.includes(':stream') ? { events: [{ data: answer }] } : { json: answer };
  },
};

function textOf(response) {
  return typeof response?.output === 'string' ? response.output : JSON.stringify(response);
}
