import { leftClients } from './left-clients.mjs';
import { longCalls } from './long-calls.mjs';
import { plainCalls } from './plain-calls.mjs';
import { readings } from './reads.mjs';
import { refusedCalls } from './refused-calls.mjs';
import { questions } from './server-requests.mjs';

/** How often each operation is done, among a thousand. */
const weights = {
  echo: 330,
  write: 170,
  burst: 4,
  'large result': 25,
  'large arguments': 3,
  cached: 60,
  isolated: 25,
  guest: 15,
  slow: 12,
  progress: 30,
  cancel: 20,
  cut: 12,
  denied: 40,
  approval: 20,
  'changing rule': 30,
  unknown: 15,
  'bad token': 8,
  list: 50,
  read: 60,
  prompt: 25,
  complete: 15,
  subscribe: 12,
  git: 6,
  ask: 20,
  'left session': 2,
  'left question': 1,
};

const all = { ...plainCalls, ...longCalls, ...refusedCalls, ...readings, ...questions, ...leftClients };

export const operations = Object.entries(weights).map(([name, weight]) => [{ name, run: all[name] }, weight]);
