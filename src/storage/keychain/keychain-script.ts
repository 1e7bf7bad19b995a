/**
 * The program that uses the keychain. Its arguments are the path of the keyring package and the id of the process that
 * starts it. The request comes on stdin and the answer goes to stdout, so that no key is in a list of processes.
 *
 * The package blocks its thread while a D-Bus daemon does not answer, for minutes. A second thread ends the process
 * when the one that started it is gone.
 */
export const keychainScript = `
const { Worker } = require('node:worker_threads');
const [library, parent] = process.argv.slice(1);
const guard = 'setInterval(() => process.ppid === ' + Number(parent)
  + ' || process.kill(process.pid, "SIGKILL"), 250)';
new Worker(guard, { eval: true });

const { readFileSync, writeSync } = require('node:fs');
const { doing, service, account, text } = JSON.parse(readFileSync(0, 'utf8'));

function answer() {
  const { Entry } = require(library);
  // Otherwise Linux may fall back to the kernel's keyring, which forgets at a restart.
  const entry = new Entry(service, account, { linux: { store: 'secret-service' } });
  switch (doing) {
    case 'read': {
      const found = entry.getPassword();
      return typeof found === 'string' ? { kind: 'found', text: found } : { kind: 'done' };
    }
    case 'write':
      entry.setPassword(text);
      return { kind: 'done' };
    case 'remove':
      entry.deletePassword();
      return { kind: 'done' };
  }
}

let said;
try {
  said = answer();
} catch (error) {
  said = { kind: 'failed', why: String(error?.message ?? error).slice(0, 300) };
}
writeSync(1, JSON.stringify(said) + '\\n');
process.exit(0);
`;
