import { type HubError, isJsonObject } from '../base/index.ts';
import type { WireError, WireResult } from '../upstream/index.ts';
import { unknownResource } from './look-up.ts';
import type { Target } from './target.ts';
import type { View } from './view.ts';
import { visibleCompletions } from './visible-completions.ts';

/** A server's result in the words of the agent: under the URI that it knows, without what it may not know of. */
export function exposedResult(view: View, target: Target, args: unknown, result: WireResult): WireResult {
  switch (target.kind) {
    case 'resource':
      return target.name === target.ownName
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

/** What was read may have parts with URIs of their own. */
function respelt({ name, ownName }: Target, contents: unknown): unknown {
  if (!Array.isArray(contents)) return contents;
  return contents.map((content: unknown) =>
    isJsonObject(content) && typeof content.uri === 'string' && content.uri.startsWith(ownName)
      ? { ...content, uri: name + content.uri.slice(ownName.length) }
      : content,
  );
}

function replaced(result: WireResult, member: string, changed: unknown): WireResult {
  const value = { ...result.value, [member]: changed };
  return { ...result, value, text: JSON.stringify(value) };
}

/** A resource that its server does not have looks like one that the agent may not see; other errors are the server's. */
export function exposedError({ kind, name }: Target, { code, text }: WireError): HubError | undefined {
  if (kind !== 'resource' && kind !== 'subscription') return undefined;
  return code === legacyNotFound || (code === modernNotFound && namesUri(text)) ? unknownResource(name) : undefined;
}

/** The eras have different codes for it, and other faults in the parameters share the newer one. */
const legacyNotFound = -32002;
const modernNotFound = -32602;

function namesUri(errorText: string): boolean {
  const error: unknown = JSON.parse(errorText);
  return isJsonObject(error) && isJsonObject(error.data) && typeof error.data.uri === 'string';
}
