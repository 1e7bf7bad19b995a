import { HubError } from '../base/index.ts';
import { createSigner } from './signature.ts';

/** A task of an upstream server, and the call that became it. */
export interface TaskClaims {
  readonly server: string;
  /** By the server's own name. */
  readonly tool: string;
  /** By the server's own word. */
  readonly taskId: string;
}

/**
 * Ids of tasks as clients see them. They say whose task it is, so that nothing has to be remembered of it; signed, not
 * secret, and good for the principal that got it, for as long as the server knows the task.
 */
export interface TaskIds {
  /** Throws for an id so long that no header could carry it. */
  seal(claims: TaskClaims, principal: string): string;
  /** Undefined when it was not sealed here, was changed, or belongs to somebody else. */
  open(id: string, principal: string): TaskClaims | undefined;
}

export function createTaskIds({ key }: { readonly key: Uint8Array }): TaskIds {
  const signer = createSigner(key);
  return {
    seal({ server, tool, taskId }, principal) {
      const content = prefix + Buffer.from(JSON.stringify([server, tool, taskId])).toString('base64url');
      const id = `${content}.${signer.sign(content, [principal])}`;
      if (id.length > maxLength) throw tooLong(server, taskId.length);
      return id;
    },
    open(id, principal) {
      if (id.length > maxLength || !id.startsWith(prefix)) return undefined;
      const end = id.lastIndexOf('.');
      const content = id.slice(0, end);
      if (!signer.isSigned(content, id.slice(end + 1), [principal])) return undefined;
      // Signed by this key, so it is what seal() made.
      const body = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString()) as Body;
      const [server, tool, taskId] = body;
      return { server, tool, taskId };
    },
  };
}

type Body = readonly [server: string, tool: string, taskId: string];

/** Signed with the rest: nothing else that this key signs can pass for the id of a task. */
const prefix = 'qmt1.';
/** It travels in the header Mcp-Name, and many servers read no more than 8 kB of headers. */
const maxLength = 4096;

function tooLong(server: string, length: number): HubError {
  return new HubError('UPSTREAM_GARBLED', `Server "${server}" made a task with an id of ${length} characters.`, {
    hint: 'An id has to fit into a header; the server has to use a shorter one.',
    details: { server },
  });
}
