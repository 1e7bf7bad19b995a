/** A modern server whose tools become tasks, as the conformance suite wants them: `node tasks.mjs [--port N]`. */
import { parseArgs } from 'node:util';
import { invalidParams } from './raw/answer.mjs';
import { said } from './raw/echo-tools.mjs';
import { capabilitiesKey } from './raw/protocol.mjs';
import { serveHttp } from './raw/serve-http.mjs';
import { createTasks, needTasks, takesTasks, tasksExtension } from './raw/tasks.mjs';

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
const tasks = createTasks();

const run = {
  greet: ({ arguments: { name } }) => said(`Hello, ${name}!`),
  capabilities: ({ meta }) => said(JSON.stringify(meta[capabilitiesKey])),
  slow_compute({ arguments: { seconds, label }, meta }) {
    const result = said(`computed ${label ?? 'it'} in ${seconds} s`);
    if (!takesTasks(meta) || seconds === 0) return result;
    return tasks.begin(({ later, complete }) => later(seconds * 1000, () => complete(result)));
  },
  failing_job({ meta }) {
    needTasks(meta);
    const result = { ...said('the job failed'), isError: true };
    return tasks.begin(({ later, complete }) => later(100, () => complete(result)));
  },
  protocol_error_job({ meta }) {
    needTasks(meta);
    return tasks.begin(({ later, fail }) => later(100, () => fail({ code: -32603, message: 'the server broke' })));
  },
  confirm_delete({ arguments: { filename }, meta }) {
    needTasks(meta);
    return tasks.begin(({ ask, complete }) =>
      ask({ sure: form(`Delete ${filename}?`) }, ({ sure }) => complete(said(`${sure.action}: ${filename}`))),
    );
  },
  multi_input({ meta }) {
    needTasks(meta);
    return tasks.begin(({ ask, complete }) =>
      ask({ first: form('First?'), second: form('Second?') }, () => complete(said('both'))),
    );
  },
  test_tool_with_task({ inputResponses, meta }) {
    needTasks(meta);
    const name = inputResponses?.user_name?.content?.name;
    if (name === undefined) {
      const inputRequests = { user_name: form('Who are you?') };
      return { resultType: 'input_required', inputRequests, requestState: 'asked' };
    }
    return tasks.begin(({ later, complete }) => later(50, () => complete(said(`Hello, ${name}!`))));
  },
};

const tools = Object.keys(run).map((name) => ({ name, inputSchema: { type: 'object' } }));

function form(message) {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' }, confirm: { type: 'boolean' } } };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

const server = {
  name: 'tasks',
  extensions: { [tasksExtension]: {} },
  listTools: () => ({ tools }),
  callTool(call) {
    if (!Object.hasOwn(run, call.name)) throw invalidParams(`Unknown tool: ${call.name}`);
    return run[call.name](call);
  },
  modern: tasks.methods,
};

await serveHttp(server, { port: Number(values.port), era: 'modern' });
