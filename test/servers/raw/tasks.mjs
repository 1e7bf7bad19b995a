import { capabilitiesKey, codes } from './protocol.mjs';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** The tasks of one server, whose ids are `task-1`, `task-2` and so on: those of two servers look the same. */
export function createTasks() {
  const tasks = new Map();

  /** `run(task)` gets `complete(result)`, `fail(error)` and `ask(requests, goOn)`. */
  function begin(run) {
    const now = new Date().toISOString();
    const task = { taskId: `task-${tasks.size + 1}`, status: 'working', createdAt: now, lastUpdatedAt: now };
    tasks.set(task.taskId, { task, answers: {}, goOn: undefined, timer: undefined });
    run({
      complete: (result) => settle(task.taskId, 'completed', { result: { resultType: 'complete', ...result } }),
      fail: (error) => settle(task.taskId, 'failed', { error }),
      ask(requests, goOn) {
        settle(task.taskId, 'input_required', { inputRequests: requests });
        tasks.get(task.taskId).goOn = goOn;
      },
      later(ms, work) {
        tasks.get(task.taskId).timer = setTimeout(work, ms);
      },
    });
    return { resultType: 'task', ...seen(task) };
  }

  function settle(taskId, status, more) {
    const known = tasks.get(taskId);
    if (isOver(known.task)) return;
    const { createdAt } = known.task;
    known.task = { taskId, status, createdAt, lastUpdatedAt: new Date().toISOString(), ...more };
  }

  function find({ taskId, _meta: meta }) {
    needTasks(meta);
    const known = tasks.get(taskId);
    if (known === undefined) throw Object.assign(new Error('Unknown task'), { rpcCode: codes.invalidParams });
    return known;
  }

  const methods = {
    'tasks/get': (params) => whole(find(params).task),
    'tasks/update'(params) {
      const known = find(params);
      const { inputRequests, status } = known.task;
      if (status !== 'input_required') return {};
      const answered = Object.keys(inputRequests).filter((key) => Object.hasOwn(params.inputResponses, key));
      for (const key of answered) known.answers[key] = params.inputResponses[key];
      const open = Object.entries(inputRequests).filter(([key]) => !answered.includes(key));
      if (open.length > 0) settle(params.taskId, 'input_required', { inputRequests: Object.fromEntries(open) });
      else known.goOn(known.answers);
      return {};
    },
    'tasks/cancel'(params) {
      const known = find(params);
      clearTimeout(known.timer);
      settle(params.taskId, 'cancelled', {});
      return {};
    },
  };
  return { begin, methods };
}

export function takesTasks(meta) {
  return meta?.[capabilitiesKey]?.extensions?.[tasksExtension] !== undefined;
}

export function needTasks(meta) {
  if (takesTasks(meta)) return;
  throw Object.assign(new Error('Missing required client capability'), {
    rpcCode: codes.missingCapability,
    rpcData: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
  });
}

function isOver({ status }) {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** What is told of a new task: its result, its error and its questions are for those who ask. */
function seen({ taskId, status, createdAt, lastUpdatedAt }) {
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs: 60_000, pollIntervalMs: 50 };
}

function whole(task) {
  return { ...task, ttlMs: 60_000, pollIntervalMs: 50 };
}
