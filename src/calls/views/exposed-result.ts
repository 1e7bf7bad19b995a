import { type HubError, isJsonObject } from '../../base/index.ts';
import { rewriteResultUris, scopeUri } from '../../mcp/index.ts';
import type { ErrorReply, ResultReply } from '../../upstream/index.ts';
import { unknownResource } from '../look-up.ts';
import type { Target } from '../target.ts';
import type { View } from './view.ts';
import { visibleCompletions } from './visible-completions.ts';

/** A server's result with exposed URIs and without the parts that the agent may not see. */
export function exposedResult(view: View, target: Target, args: unknown, result: ResultReply): ResultReply {
  const exposed = exposedSubject(view, target, args, result);
  return rewriteResultUris(exposed, (uri) => view.ownedUri(target.server, uri));
}

function exposedSubject(view: View, target: Target, args: unknown, result: ResultReply): ResultReply {
  switch (target.kind) {
    case 'resource':
      return target.name === target.ownName || isScoped(target)
        ? result
        : replaced(result, 'contents', respelt(target, result.value.contents));
    case 'completion': {
      const { completion } = result.value;
      if (!isJsonObject(completion)) return result;
      const visible = visibleCompletions(view, target, args, completion);
      return visible === completion ? result : replaced(result, 'completion', visible);
    }
    default:
      return result;
  }
}

/** All such URIs in a result are rewritten. */
function isScoped({ ownName }: Target): boolean {
  return scopeUri('', ownName) !== undefined;
}

/** A resource may have parts with their own URIs. */
function respelt({ name, ownName }: Target, contents: unknown): unknown {
  if (!Array.isArray(contents)) return contents;
  return contents.map((content: unknown) =>
    isJsonObject(content) && typeof content.uri === 'string' && content.uri.startsWith(ownName)
      ? { ...content, uri: name + content.uri.slice(ownName.length) }
      : content,
  );
}

function replaced(result: ResultReply, member: string, changed: unknown): ResultReply {
  const value = { ...result.value, [member]: changed };
  return { ...result, value, text: JSON.stringify(value) };
}

/** An unknown resource looks like one that the agent may not see. Other errors are passed on. */
export function exposedError({ kind, name }: Target, { code, text }: ErrorReply): HubError | undefined {
  if (kind !== 'resource' && kind !== 'subscription') return undefined;
  return code === legacyNotFound || (code === modernNotFound && namesUri(text)) ? unknownResource(name) : undefined;
}

/** The code differs by protocol version, and the newer one also stands for other invalid parameters. */
const legacyNotFound = -32002;
const modernNotFound = -32602;

function namesUri(errorText: string): boolean {
  const error: unknown = JSON.parse(errorText);
  return isJsonObject(error) && isJsonObject(error.data) && typeof error.data.uri === 'string';
}
