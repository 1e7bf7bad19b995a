import { cookieName } from '../../base/index.ts';

export interface CookieOwner {
  /** Random, new with each hub. */
  readonly boot: string;
  readonly pid: number;
  /** Clock ticks since the machine's boot. With the pid, it identifies a process uniquely. */
  readonly start: number;
  /** Pids mean something only inside their pid namespace. */
  readonly namespace: string;
}

export function formatCookie(owner: CookieOwner, child: number): string {
  return `${owner.boot}:${owner.pid}:${owner.start}:${owner.namespace}:${child}`;
}

export function parseCookie(text: string): CookieOwner | undefined {
  const match = /^([0-9a-z]+):([1-9][0-9]*):([0-9]+):([0-9]+):[0-9]+$/.exec(text);
  if (match === null) return undefined;
  const [, boot = '', pid, start, namespace = ''] = match;
  return { boot, pid: Number(pid), start: Number(start), namespace };
}

/** The start of the environment entry of every child of this hub. */
export function bootMark(owner: CookieOwner): string {
  return `${cookieName}=${owner.boot}:`;
}
