import { acceptedContent, fromJsonSchema, inputRequired } from '@modelcontextprotocol/server';
import { defaultsForm, enumsForm, form, userForm } from './forms.mjs';
import { text } from './samples.mjs';

/**
 * Tools that ask the client back. Each is written once: the SDK turns the question into a request of its own for
 * clients of the handshake era.
 */
export function registerInputTools(server, codec) {
  registerAskOnceTools(server);
  registerStatefulTools(server, codec);
  registerCapabilityTools(server);
}

function registerAskOnceTools(server) {
  const ask = (name, description, inputSchema, question, answer) => {
    server.registerTool(name, inputSchema ? { description, inputSchema } : { description }, (...given) => {
      const ctx = given.at(-1);
      const args = given.length > 1 ? given[0] : {};
      const reply = ctx.mcpReq.inputResponses?.answer;
      if (reply === undefined) return inputRequired({ inputRequests: { answer: question(args) } });
      return { content: [text(answer(reply))] };
    });
  };
  const outcome = (reply) => `action=${reply.action}, content=${JSON.stringify(reply.content ?? {})}`;

  ask(
    'test_sampling',
    'Asks the model of the client',
    oneString('prompt'),
    ({ prompt }) => sample(prompt, 100),
    (reply) => `LLM response: ${reply.content?.text ?? JSON.stringify(reply.content)}`,
  );
  ask(
    'test_elicitation',
    'Asks the user for a name and an address',
    oneString('message'),
    ({ message }) => inputRequired.elicit({ message, requestedSchema: userForm }),
    (reply) => `User response: ${outcome(reply)}`,
  );
  ask(
    'test_elicitation_sep1034_defaults',
    'Asks with a default in every field',
    undefined,
    () => inputRequired.elicit({ message: 'Please review', requestedSchema: defaultsForm }),
    (reply) => `Elicitation completed: ${outcome(reply)}`,
  );
  ask(
    'test_elicitation_sep1330_enums',
    'Asks with every kind of choice',
    undefined,
    () => inputRequired.elicit({ message: 'Please choose', requestedSchema: enumsForm }),
    (reply) => `Elicitation completed: ${outcome(reply)}`,
  );

  server.registerTool('test_input_required_result_elicitation', { description: 'Asks for a name' }, (ctx) => {
    const name = acceptedContent(ctx.mcpReq.inputResponses, 'user_name')?.name;
    if (typeof name !== 'string') return inputRequired({ inputRequests: { user_name: askName('What is your name?') } });
    return { content: [text(`Hello, ${name}!`)] };
  });

  server.registerTool('test_input_required_result_sampling', { description: 'Asks the model' }, (ctx) => {
    const reply = ctx.mcpReq.inputResponses?.capital_question;
    if (reply?.content === undefined) {
      return inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } });
    }
    return { content: [text(`The model says: ${reply.content.text ?? JSON.stringify(reply.content)}`)] };
  });

  server.registerTool('test_input_required_result_list_roots', { description: 'Asks for the roots' }, (ctx) => {
    const roots = ctx.mcpReq.inputResponses?.client_roots?.roots;
    if (!Array.isArray(roots)) return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    return { content: [text(`Roots: ${roots.map((root) => root.uri).join(', ')}`)] };
  });

  server.registerTool('test_streaming_elicitation', { description: 'Notifies, then asks' }, async (ctx) => {
    const ok = acceptedContent(ctx.mcpReq.inputResponses, 'confirm')?.ok;
    if (ok !== undefined) return { content: [text(`confirmed=${ok}`)] };
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
    }
    return inputRequired({ inputRequests: { confirm: askOk() } });
  });
}

function registerStatefulTools(server, codec) {
  for (const name of ['test_input_required_result_request_state', 'test_input_required_result_tampered_state']) {
    server.registerTool(name, { description: 'Asks, with signed state in between' }, async (ctx) => {
      const state = ctx.mcpReq.requestState();
      const ok = acceptedContent(ctx.mcpReq.inputResponses, 'confirm')?.ok;
      if (state === undefined || ok === undefined) {
        return inputRequired({ inputRequests: { confirm: askOk() }, requestState: await codec.mint({ step: 1 }) });
      }
      return { content: [text('state-ok')] };
    });
  }

  server.registerTool(
    'test_input_required_result_multiple_inputs',
    { description: 'Sends three requests at once' },
    async (ctx) => {
      const { user_name, greeting, client_roots } = ctx.mcpReq.inputResponses ?? {};
      if (user_name === undefined || greeting === undefined || client_roots === undefined) {
        return inputRequired({
          inputRequests: {
            user_name: askName('What is your name?'),
            greeting: sample('Generate a greeting', 50),
            client_roots: inputRequired.listRoots(),
          },
          requestState: await codec.mint({ step: 1 }),
        });
      }
      return { content: [text(`${greeting.content?.text} ${user_name.content?.name}, ${client_roots.roots?.length}`)] };
    },
  );

  server.registerTool('test_input_required_result_multi_round', { description: 'Asks twice' }, async (ctx) => {
    const state = ctx.mcpReq.requestState();
    const name = acceptedContent(ctx.mcpReq.inputResponses, 'step1')?.name;
    const color = acceptedContent(ctx.mcpReq.inputResponses, 'step2')?.color;
    if (state?.step === 2 && color !== undefined) return { content: [text(`${state.name} likes ${color}.`)] };
    if (state?.step === 1 && name !== undefined) {
      return inputRequired({
        inputRequests: {
          step2: inputRequired.elicit({
            message: 'Step 2: What is your favorite color?',
            requestedSchema: form({ color: { type: 'string' } }),
          }),
        },
        requestState: await codec.mint({ step: 2, name }),
      });
    }
    return inputRequired({
      inputRequests: { step1: askName('Step 1: What is your name?') },
      requestState: await codec.mint({ step: 1 }),
    });
  });
}

function registerCapabilityTools(server) {
  // Asks without looking: the SDK refuses in its place, with the error and the HTTP status that the revision wants.
  server.registerTool('test_missing_capability', { description: 'Needs sampling' }, (ctx) => {
    const reply = ctx.mcpReq.inputResponses?.answer;
    if (reply === undefined) return inputRequired({ inputRequests: { answer: sample('Say something', 20) } });
    return { content: [text('The client can sample.')] };
  });

  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Asks only what the client can answer' },
    (ctx) => {
      const can = declared(server, ctx);
      const inputRequests = {};
      if (can.sampling) inputRequests.sample = sample('Say something', 20);
      if (can.elicitation) inputRequests.name = askName('What is your name?');
      const asked = Object.keys(inputRequests);
      const answered = asked.every((key) => ctx.mcpReq.inputResponses?.[key] !== undefined);
      if (asked.length > 0 && !answered) return inputRequired({ inputRequests });
      return { content: [text(`asked: ${asked.join(', ') || 'nothing'}`)] };
    },
  );
}

function declared(server, ctx) {
  const envelope = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'];
  return envelope ?? server.server.getClientCapabilities() ?? {};
}

function sample(prompt, maxTokens) {
  return inputRequired.createMessage({ messages: [{ role: 'user', content: text(prompt) }], maxTokens });
}

function askName(message) {
  return inputRequired.elicit({ message, requestedSchema: form({ name: { type: 'string' } }) });
}

function askOk() {
  return inputRequired.elicit({ message: 'Please confirm', requestedSchema: form({ ok: { type: 'boolean' } }) });
}

function oneString(name) {
  return fromJsonSchema({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
}
