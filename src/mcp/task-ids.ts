import { HubError } from '../base/index.ts';
import { createSigner } from './signature.ts';

/** A task of an upstream server and the call that created it. */
export interface TaskClaims {
  readonly server: string;
  /** The server's own name for the tool. */
  readonly tool: string;
  /** The server's own id for the task. */
  readonly taskId: string;
}

/**
 * Task ids as clients see them. An id names the server, tool and task, so the hub stores nothing. It is signed but not
 * encrypted, bound to the principal that received it, and valid for as long as the server knows the task.
 */
export interface TaskIds {
  /** Throws for an id too long for a header. */
  seal(claims: TaskClaims, principal: string): string;
  /** Undefined if the id was not sealed here, was changed, or belongs to another principal. */
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
      // Signed with this key, so seal() made it.
      const body = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString()) as Body;
      const [server, tool, taskId] = body;
      return { server, tool, taskId };
    },
  };
}

type Body = readonly [server: string, tool: string, taskId: string];

/** Signed too, so nothing else signed with this key can pass for a task id. */
const prefix = 'qmt1.';
/** The id travels in the Mcp-Name header, and many servers accept no more than 8 kB of headers. */
const maxLength = 4096;

function tooLong(server: string, length: number): HubError {
  return new HubError('UPSTREAM_GARBLED', `Server "${server}" made a task with an id of ${length} characters.`, {
    hint: 'An id has to fit into a header; the server has to use a shorter one.',
    details: { server },
  });
}
