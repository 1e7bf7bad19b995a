import type { Naming } from './fleet.ts';

/** What has names of its own: a prompt may be called like a tool. Resources have URIs. */
export type NameKind = 'tool' | 'prompt' | 'resource';

/** The name under which agents see something that a server offers. */
export interface GivenName {
  readonly kind: NameKind;
  readonly naming: Naming;
  readonly server: string;
  /** What the server itself calls it. */
  readonly own: string;
  readonly name: string;
}
