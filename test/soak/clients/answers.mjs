/** What a client says when a server asks it something; each answer holds the question and the client's name. */
export function answerTo(name, method, params) {
  switch (method) {
    case 'elicitation/create':
      if (params.mode === 'url') return { action: 'accept' };
      return { action: 'accept', content: { answer: `${name} read ${params.message}` } };
    case 'sampling/createMessage': {
      const { content } = params.messages[0];
      const text = (Array.isArray(content) ? content[0] : content).text;
      return { model: name, role: 'assistant', content: { type: 'text', text: `${name} read ${text}` } };
    }
    case 'roots/list':
      return { roots: [{ uri: `file:///${name}` }] };
    default:
      return {};
  }
}

/** The words of a question that say for which call it is; roots have none. */
export function wordsOf(method, params) {
  if (method === 'elicitation/create') return params.message;
  return method === 'sampling/createMessage'
    ? answerTo('', method, params).content.text.slice(' read '.length)
    : undefined;
}

/** The hub sends the page of a held call to a client that opens links. */
export function isForApproval({ mode, message } = {}) {
  return mode === 'url' && message?.endsWith('.danger needs approval.');
}

export const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
