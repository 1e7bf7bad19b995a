import { cookieName, createId, type RandomBytes, thisProcess } from '../../base/index.ts';
import { type CookieOwner, formatCookie } from './cookie.ts';
import { readOwnNamespace } from './process-table.ts';

export interface ChildEnvironment {
  /** Identifies the child and all its descendants, which inherit it. */
  readonly cookie: string;
  readonly env: Record<string, string>;
}

/** Makes the environments of one hub's children: the base, the configured variables, and a cookie for each child. */
export function createChildEnvironments(
  owner: CookieOwner,
  baseEnv: Readonly<Record<string, string>>,
): (configured: Readonly<Record<string, string>>) => ChildEnvironment {
  let children = 0;
  return (configured) => {
    children += 1;
    const cookie = formatCookie(owner, children);
    return { cookie, env: { ...baseEnv, ...configured, [cookieName]: cookie } };
  };
}

/** This process as the owner of its children's cookies. */
export function newCookieOwner(random: RandomBytes): CookieOwner {
  return {
    boot: createId(random, 16),
    pid: process.pid,
    start: thisProcess().start ?? 0,
    namespace: readOwnNamespace(),
  };
}
