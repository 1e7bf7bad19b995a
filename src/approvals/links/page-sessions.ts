import { createHash } from 'node:crypto';
import { type Clock, createId, type RandomBytes } from '../../base/index.ts';
import type { Approver } from '../model/call-approval.ts';

/** Whoever opened a link: may decide on one approval, on its page. */
export interface PageSession {
  readonly approval: string;
  readonly approver: Approver;
  /** Comes with every form of the page, and no other page knows it. */
  readonly formToken: string;
  readonly expires: number;
}

/**
 * One-time links to the pages of approvals, and the sessions that they open. Both are only in memory, and by their hash:
 * a program that reads the hub's files cannot decide with them. A hub that restarts has none.
 */
export class PageSessions {
  readonly #clock: Clock;
  readonly #random: RandomBytes;
  readonly #links = new Map<string, Omit<PageSession, 'formToken'>>();
  readonly #sessions = new Map<string, PageSession>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: RandomBytes }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns the key of a new link. */
  create(approval: string, approver: string, expires: number): string {
    const key = createId(this.#random, keyLength);
    keep(this.#links, hashOf(key), { approval, approver: { name: approver, via: 'page' }, expires });
    return key;
  }

  /** Whether the link would open. Programs that preview links look at them too, so looking does not use it up. */
  isGood(approval: string, key: string): boolean {
    return this.#alive(this.#links.get(hashOf(key)), approval) !== undefined;
  }

  /** Uses the link up, and returns the secret of a new session. Undefined if it is used up or over. */
  open(approval: string, key: string): string | undefined {
    const hash = hashOf(key);
    const link = this.#alive(this.#links.get(hash), approval);
    if (link === undefined) return undefined;
    this.#links.delete(hash);
    const secret = createId(this.#random, keyLength);
    keep(this.#sessions, hashOf(secret), { ...link, formToken: createId(this.#random, keyLength) });
    return secret;
  }

  session(approval: string, secret: string): PageSession | undefined {
    return this.#alive(this.#sessions.get(hashOf(secret)), approval);
  }

  #alive<T extends Omit<PageSession, 'formToken'>>(found: T | undefined, approval: string): T | undefined {
    return found?.approval === approval && this.#clock.now() < found.expires ? found : undefined;
  }
}

/** 5 bits each: nobody guesses it. */
const keyLength = 40;

/** More than open questions and receivers of notices; the oldest go first. */
const mostKept = 2000;

function keep<T>(map: Map<string, T>, hash: string, value: T): void {
  const [oldest] = map.keys();
  if (map.size >= mostKept && oldest !== undefined) map.delete(oldest);
  map.set(hash, value);
}

/** A lookup by hash takes no time that would tell anything about the secret. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}
