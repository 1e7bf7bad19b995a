import type { WorkBudget } from '../../base/index.ts';
import type { Catalog, Decision } from '../../domain/index.ts';
import type { AgentPolicy, ListedUris, UriTemplateForm } from '../../governance/index.ts';
import { type ReadableSubjects, readableSubjects } from './readable-subjects.ts';

/** One agent's read access to one server. */
export interface ReadAccess {
  /** Decides on `resource:<uri>` and `prompt:<name>`, with the server's own names. */
  decide(subject: string, budget?: WorkBudget): Decision;
  /**
   * The same for a list, where nothing takes long: agents share the work on URIs. Denies a URI for which the work of
   * the whole list is used up, although it can be read.
   */
  decideListed(subject: string): Decision;
}

export interface SharedReads {
  readonly subjects: ReadableSubjects;
  readonly listedUris: ListedUris;
}

/** `shared` is computed once per server. */
export function createReadAccess(policy: AgentPolicy, server: string, shared: SharedReads): ReadAccess {
  const { subjects, listedUris } = shared;
  const decide = decider(policy, server, subjects);
  return {
    decide,
    decideListed(subject) {
      const uri = subject.startsWith(resourcePrefix) ? listedUris.of(subject.slice(resourcePrefix.length)) : undefined;
      return uri === undefined ? decide(subject) : policy.decideRead(server, subject, uri);
    },
  };
}

/** For a single decision. Without a catalog nothing is listed, and every URI is the caller's own. */
export function readAccessOf(
  policy: AgentPolicy,
  server: string,
  catalog: Catalog | undefined,
): Pick<ReadAccess, 'decide'> {
  return { decide: decider(policy, server, catalog && readableSubjects(catalog)) };
}

function decider(policy: AgentPolicy, server: string, subjects: ReadableSubjects | undefined): ReadAccess['decide'] {
  const forms = (): readonly UriTemplateForm[] => subjects?.forms ?? [];
  return (subject, budget) =>
    policy.decideRead(server, subject, subjects?.isListed(subject) === true ? undefined : forms, budget);
}

const resourcePrefix = 'resource:';
