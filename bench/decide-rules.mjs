// Decides on the same call many times by the rules of a workspace: node decide-rules.mjs DIST FOLDER COUNT
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, folder, count] = [resolve(process.argv[2]), process.argv[3], Number(process.argv[4])];
const load = (name) => import(pathToFileURL(join(dist, name, 'index.js')));
const [{ loadConfiguration }, { compilePolicy }, { decideOn }] = await Promise.all(
  ['config', 'governance', 'domain'].map(load),
);

const configuration = await loadConfiguration({ env: {} }, { workspace: folder });
if (configuration.problems.length > 0) throw new Error(configuration.problems[0].message);
const policy = compilePolicy(configuration, ['bench']);
const hints = { readOnly: true, destructive: null };
const calls = Array.from({ length: 64 }, (_, index) => ({ args: { message: `call ${index}` }, labels: new Set() }));

const first = process.hrtime.bigint();
const listed = policy.decide('echo', 'echo', 'echo_echo', hints);
const listNs = Number(process.hrtime.bigint() - first);
const callNs = await perCall();
process.stdout.write(`${JSON.stringify({ effect: listed.effect, listNs, callNs })}\n`);

/** The first tenth only warms up. */
async function perCall() {
  let allowed = 0;
  let begin = 0n;
  for (let at = 0; at < count; at++) {
    if (at === Math.floor(count / 10)) begin = process.hrtime.bigint();
    if (decideOn(listed, calls[at % calls.length]).effect === 'allow') allowed++;
  }
  if (allowed !== count) {
    throw new Error(
      `${count - allowed} of ${count} calls were not allowed: ${JSON.stringify(decideOn(listed, calls[0]).reason)}`,
    );
  }
  return Number(process.hrtime.bigint() - begin) / (count - Math.floor(count / 10));
}
