/**
 * A program that uses a built ledger until it is killed. It prints each id after its record was acknowledged,
 * synchronously, so that a kill cannot take the word back.
 */
export function ledgerChildSource(): string {
  return `
    import { writeSync } from 'node:fs';
    import { createSilentLogger, createSystemClock, systemRandom } from './base/index.js';
    import { ledgerConnection, ledgerSubject, openLedger } from './ledger/index.js';
    const [mode, workspace] = process.argv.slice(2);
    const same = (text) => text;
    const ledger = await openLedger(
      { clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom, redact: { json: same, message: same } },
      { workspace, journal: { root: workspace, names: ['state', 'journal'] }, sync: 'os', rotateBytes: 20000 },
    );
    const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
    const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
    async function one(number) {
      const call = ledger.open(subject, 'run-' + (number % 3), '{"number":' + number + ',"fill":"' + 'x'.repeat(number % 500) + '"}');
      await ledger.sent(call, connection);
      writeSync(1, 'sent ' + call.id + '\\n');
      if (number % 10 === 0) return;
      ledger.done(call, { outcome: 'ok', durationMs: 1 });
      // The end is safe once it is flushed.
      if (number % 25 === 1) {
        await ledger.flush();
        writeSync(1, 'done ' + call.id + '\\n');
      }
    }
    async function hold(number) {
      const call = ledger.open(subject, 'run-' + (number % 3), '{"number":' + number + '}');
      await ledger.held(call);
      writeSync(1, 'held ' + call.id + '\\n');
      if (number % 3 === 0) return;
      if (number % 3 === 1) {
        await ledger.sent(call, connection);
        writeSync(1, 'sent ' + call.id + '\\n');
        return;
      }
      ledger.refused(call, { outcome: 'denied', durationMs: 1 });
      await ledger.flush();
      writeSync(1, 'refused ' + call.id + '\\n');
    }
    if (mode === 'hold') for (let number = 0; ; number++) await hold(number);
    else if (mode === 'recover') await ledger.close();
    else for (let number = 0; ; number += 8) await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((add) => one(number + add)));
  `;
}
