import { createHmac, timingSafeEqual } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Clock, RandomBytes } from '../../base/index.ts';
import { workspaceLayout } from '../files/layout.ts';
import { readHomeKey } from '../files/state-key.ts';

/** What a process claims, so that nobody passes on the proof of another workspace's hub. */
export interface ClaimSubject {
  readonly id: string;
  readonly workspace: string;
}

/** Who asks for a proof. */
export interface Asker {
  readonly home: string;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

const answerMs = 2000;

/**
 * Sends the pid of this process with a proof for the number that the client sends, by the key of the state home that the
 * client names. Only a process of the same user can read it. It is read for each client: somebody may have deleted the
 * state, or use another state home.
 */
export function answerWithProof(socket: Socket, subject: ClaimSubject): void {
  let text = '';
  socket.setTimeout(answerMs, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    if (text.length > longestQuestion) socket.destroy();
    if (!text.endsWith('\n') || socket.destroyed) return;
    const [, nonce, home] = questionPattern.exec(text) ?? [];
    socket.removeAllListeners('data');
    if (nonce === undefined || home === undefined) return void socket.destroy();
    readHomeKey(workspaceLayout(subject.workspace, home)).then(
      (key) => socket.end(key === undefined ? '' : `${process.pid} ${proofOf(process.pid, nonce, { key, subject })}\n`),
      // Whoever names a folder that this user cannot use gets no proof.
      () => socket.destroy(),
    );
  });
}

/** The pid of the process that listens there, if it proves that it can read the asker's key. */
export function askForProof(path: string, subject: ClaimSubject, asker: Asker): Promise<number | undefined> {
  const { home, key, clock, random } = asker;
  const nonce = random(32).toString('hex');
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path, () => void socket.write(`${nonce} ${home}\n`));
    // As a whole: somebody may send a byte now and then.
    const deadline = clock.setTimer(answerMs, () => socket.destroy());
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text = (text + piece).slice(0, longestAnswer);
      if (text.length === longestAnswer) socket.destroy();
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      deadline.cancel();
      const [, pid = '', proof = ''] = answerPattern.exec(text) ?? [];
      resolve(isProof(proof, proofOf(Number(pid), nonce, { key, subject })) ? Number(pid) : undefined);
    });
  });
}

const questionPattern = /^([0-9a-f]{64}) (\/[^\0\n]*)\n$/;
const longestQuestion = 5000;
const answerPattern = /^(\d{1,10}) ([0-9a-f]{64})\n$/;
const longestAnswer = 100;

function proofOf(
  pid: number,
  nonce: string,
  { key, subject }: { readonly key: Uint8Array; readonly subject: ClaimSubject },
): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['claim', subject.id, pid, nonce]))
    .digest('hex');
}

function isProof(said: string, expected: string): boolean {
  return said.length === expected.length && timingSafeEqual(Buffer.from(said), Buffer.from(expected));
}
