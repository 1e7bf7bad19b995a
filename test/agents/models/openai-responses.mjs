/** OpenAI's Responses API, as Codex speaks it: the tools of an MCP server come in a namespace of their own. */
export const openaiResponses = {
  matches: (path) => path.endsWith('/responses'),

  read(body) {
    const items = Array.isArray(body.input) ? body.input : [];
    return {
      tools: (body.tools ?? []).flatMap(toolsIn),
      results: items.filter(({ type }) => type === 'function_call_output').map(({ output }) => textOf(output)),
    };
  },

  write(reply, { body, id }) {
    const item = reply.call ? functionCall(reply.call, id) : message(reply.say, id);
    const response = { id: `resp_${id}`, object: 'response', created_at: 0, model: body.model };
    const done = { ...response, status: 'completed', output: [item], usage };
    if (!body.stream) return { json: done };
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: done },
    ];
    return { events: events.map((data) => ({ event: data.type, data })) };
  },
};

const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
};

function toolsIn(tool) {
  if (tool.type !== 'namespace') return tool.name === undefined ? [] : [{ name: tool.name }];
  return tool.tools.map(({ name }) => ({ name, namespace: tool.name }));
}

function functionCall({ tool, args }, id) {
  const call = { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name: tool.name };
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace };
  return { ...call, ...namespace, arguments: JSON.stringify(args), status: 'completed' };
}

function message(text, id) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
}

function textOf(output) {
  return Array.isArray(output) ? output.map(({ text = '' }) => text).join('') : String(output ?? '');
}
