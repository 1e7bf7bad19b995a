// Measures Quartermaster beside a bare hop and other gateways: npm run bench -- --help
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { trustFolder } from '../test/support/trust-folder.mjs';
import { createEchoHttp } from './harness/contenders.mjs';
import { readOptions, usage } from './harness/options.mjs';
import { createProcesses } from './harness/processes.mjs';
import { writeWorkspace } from './harness/workspace.mjs';
import { measureChange } from './measurements/change.mjs';
import { measureList } from './measurements/list.mjs';
import { measureMemory } from './measurements/memory.mjs';
import { measureReady } from './measurements/ready.mjs';
import { measureRules } from './measurements/rules.mjs';
import { measureSessions } from './measurements/sessions.mjs';
import { measureSpeed } from './measurements/speed.mjs';

const measure = {
  speed: measureSpeed,
  memory: measureMemory,
  list: measureList,
  rules: measureRules,
  sessions: measureSessions,
  ready: measureReady,
  change: measureChange,
};

const options = optionsOrNothing(process.argv.slice(2));
if (options?.help) process.stdout.write(usage);
else if (options !== undefined) process.exitCode = await main(options);

function optionsOrNothing(args) {
  try {
    return readOptions(args);
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}

async function main(options) {
  const scratch = mkdtempSync(join(tmpdir(), 'quartermaster-bench-'));
  // Never the state or the settings of the person who measures.
  Object.assign(process.env, { QM_STATE_DIR: join(scratch, 'state'), XDG_CONFIG_HOME: join(scratch, 'config') });
  trustFolder(join(scratch, 'config'), scratch);
  const processes = createProcesses();
  process.on('exit', () => {
    processes.killAll();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stopOn(processes));

  const report = { machine: machine(), options, results: {} };
  console.log(`${sentence(report.machine)}\n`);
  let failed = false;
  for (const name of options.measure) {
    const result = await measure[name](benchFor(name, { options, scratch, processes }), options).catch((error) => ({
      title: `${name}: not measured`,
      failures: [{ name, error: error.message }],
    }));
    await processes.stopAll();
    progress('');
    print(result);
    report.results[name] = result;
    failed ||= result.failures.length > 0;
  }
  report.machine.loadAtEnd = loadavg()[0];
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
  return failed ? 1 : 0;
}

/** What a measurement may use; each starts with a fresh upstream. */
function benchFor(measurement, { options, scratch, processes }) {
  return {
    processes,
    progress,
    qm: options.qm,
    before: options.before,
    library: join(dirname(dirname(options.qm)), 'dist', 'library', 'index.js'),
    compiled: join(dirname(dirname(options.qm)), 'dist'),
    echoHttp: createEchoHttp(processes),
    workspace(name, settings) {
      const folder = join(scratch, measurement, name.replaceAll(/\W+/g, '-'));
      writeWorkspace(folder, settings);
      return folder;
    },
  };
}

function print({ title, text, failures }) {
  console.log(`${title}\n`);
  if (text) console.log(`${text}\n`);
  for (const line of new Set(failures.map(({ name, error }) => `${name} failed: ${error}`))) console.log(`${line}\n`);
}

function stopOn(processes) {
  return (signal) => {
    progress('');
    process.stderr.write(`Stopping on ${signal} …\n`);
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
    process.removeAllListeners(signal);
    void processes.stopAll().then(() => process.exit());
  };
}

function machine() {
  const [cpu] = cpus();
  return {
    node: process.version,
    platform: process.platform,
    cpu: cpu?.model,
    cores: cpus().length,
    load: loadavg()[0],
  };
}

function sentence({ node, cpu, cores, load }) {
  const busy = load > cores / 4 ? '; that is busy, so read ratios only, and those with care' : '';
  return `Node ${node}, ${cores} × ${cpu}, load average ${load.toFixed(2)}${busy}`;
}

/** What is going on, on a terminal only. */
function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
