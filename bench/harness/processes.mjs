import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long a process may take to end by itself before it is killed. */
const stopMs = 10_000;
const keptErrorBytes = 4000;

/**
 * Every process the benchmark starts, each in a group of its own, so that what it started goes with it and nothing
 * else does.
 */
export function createProcesses() {
  const running = new Set();

  function start(name, args, { env = {}, nodeArgs = [], ipc = false } = {}) {
    const child = spawn(process.execPath, [...nodeArgs, ...args], {
      env: { ...process.env, ...env },
      stdio: ipc ? ['pipe', 'pipe', 'pipe', 'ipc'] : ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const owned = follow(name, child, () => running.delete(owned));
    if (child.pid !== undefined) running.add(owned);
    return owned;
  }

  async function stop(owned) {
    signalGroup(owned, 'SIGTERM');
    const tooLong = new AbortController();
    await Promise.race([owned.closed, sleep(stopMs, undefined, { signal: tooLong.signal }).catch(() => {})]);
    tooLong.abort();
    signalGroup(owned, 'SIGKILL');
    running.delete(owned);
  }

  return {
    start,
    stop,
    stopAll: () => Promise.all([...running].map(stop)),
    /** For the last moment of the program, where nothing can be waited for. */
    killAll() {
      for (const owned of running) signalGroup(owned, 'SIGKILL');
    },
    /** Runs a short program to its end and returns what it wrote. */
    async run(name, args, { input = '', limitMs = 60_000, ...options } = {}) {
      const owned = start(name, args, options);
      owned.child.stdin.end(input);
      const { code, output } = await within(owned.finished, limitMs, `${name} did not end`).catch(async (error) => {
        await stop(owned);
        throw error;
      });
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${owned.complaint() || output.trim()}`);
      return output;
    },
  };
}

/** User and system time in microseconds and resident memory in MB, now and at most; not known without /proc. */
export function usageOf(pid) {
  try {
    // The name may hold anything, but nothing after it holds a bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const megabytes = (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
    // In clock ticks, of which Linux shows programs 100 per second.
    return {
      cpu: (Number(fields[11]) + Number(fields[12])) * 10_000,
      rss: megabytes('VmRSS'),
      peak: megabytes('VmHWM'),
    };
  } catch {
    return { cpu: Number.NaN, rss: Number.NaN, peak: Number.NaN };
  }
}

export async function within(promise, limitMs, message) {
  const enough = new AbortController();
  const late = sleep(limitMs, undefined, { signal: enough.signal }).then(
    () => Promise.reject(new Error(`${message} within ${limitMs / 1000} s`)),
    () => undefined,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    enough.abort();
  }
}

function follow(name, child, onClose) {
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    errors = (errors + chunk).slice(-keptErrorBytes);
  });
  child.stdin.on('error', () => {});
  const lines = createLineQueue(name, child, () => complaintIn(errors));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output = (output + chunk).slice(-1_000_000);
  });
  const closed = new Promise((resolve) => {
    child.once('error', (error) => {
      errors += error.message;
      resolve(-1);
    });
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  const finished = closed.then((code) => {
    onClose();
    return { code, output };
  });
  return { name, child, pid: child.pid, closed, finished, complaint: () => complaintIn(errors), nextLine: lines.next };
}

/** What a process prints, a line at a time, in the order somebody asks. */
function createLineQueue(name, child, complaint) {
  const lines = [];
  const waiting = [];
  let over = false;
  const ended = () => new Error(`${name} ended: ${complaint() || 'without a word'}`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const first = waiting.shift();
    if (first === undefined) lines.push(line);
    else first.resolve(line);
  });
  child.once('close', () => {
    over = true;
    for (const { reject } of waiting.splice(0)) reject(ended());
  });
  return {
    next(limitMs) {
      const line = lines.shift();
      if (line !== undefined) return Promise.resolve(line);
      if (over) return Promise.reject(ended());
      const coming = new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      return within(coming, limitMs, `${name} printed nothing`);
    },
  };
}

/** The line that says what went wrong; the stack around it helps nobody here. */
function complaintIn(errors) {
  const lines = errors.trim().split('\n');
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
}

function signalGroup({ child }, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
  }
}
