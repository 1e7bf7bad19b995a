/** OpenAI's chat completions, as OpenCode and Copilot CLI speak them. */
export const openaiChat = {
  matches: (path) => path.endsWith('/chat/completions'),

  read(body) {
    return {
      tools: (body.tools ?? []).map((tool) => ({ name: tool.function.name })),
      results: body.messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
    };
  },

  write(reply, { body, id }) {
    const message = { role: 'assistant', content: reply.say ?? null };
    if (reply.call) message.tool_calls = [toolCall(reply.call, id)];
    const finish = reply.call ? 'tool_calls' : 'stop';
    const frame = { id: `chatcmpl-${id}`, created: 0, model: body.model };
    if (!body.stream) {
      const choices = [{ index: 0, message, finish_reason: finish }];
      return { json: { ...frame, object: 'chat.completion', choices, usage } };
    }
    const chunk = (choices, more) => ({ data: { ...frame, object: 'chat.completion.chunk', choices, ...more } });
    return {
      events: [
        chunk([{ index: 0, delta: message, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: finish }]),
        chunk([], { usage }),
        { data: '[DONE]' },
      ],
    };
  },
};

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function toolCall({ tool, args }, id) {
  return {
    index: 0,
    id: `call_${id}`,
    type: 'function',
    function: { name: tool.name, arguments: JSON.stringify(args) },
  };
}

function textOf(content) {
  return Array.isArray(content) ? content.map(({ text = '' }) => text).join('') : String(content ?? '');
}
