/** Anthropic's Messages API, as Claude Code speaks it. */
export const anthropicMessages = {
  matches: (path) => path.endsWith('/v1/messages'),

  read(body) {
    const blocks = body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    return {
      tools: (body.tools ?? []).map(({ name }) => ({ name })),
      results: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => textOf(content)),
    };
  },

  write(reply, { body, id }) {
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: body.model, ...ending };
    const block = reply.call ? toolUse(reply.call, id) : { type: 'text', text: reply.say };
    const stop = reply.call ? 'tool_use' : 'end_turn';
    if (!body.stream) return { json: { ...message, content: [block], stop_reason: stop } };
    return { events: stream(message, block, stop).map((data) => ({ event: data.type, data })) };
  },
};

const usage = { input_tokens: 1, output_tokens: 1 };
const ending = { stop_reason: null, stop_sequence: null, usage };

function toolUse({ tool, args }, id) {
  return { type: 'tool_use', id: `toolu_${id}`, name: tool.name, input: args };
}

function stream(message, block, stop) {
  const isCall = block.type === 'tool_use';
  const start = isCall ? { ...block, input: {} } : { ...block, text: '' };
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    : { type: 'text_delta', text: block.text };
  return [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
}

function textOf(content) {
  if (!Array.isArray(content)) return String(content ?? '');
  return content.map(({ text = '' }) => text).join('');
}
