import { HubError } from '../../base/index.ts';
import {
  isUiUri,
  maxParsedAtOnce,
  mayHoldScopedUri,
  renameContents,
  rewriteResultUris,
  scopeUri,
} from '../../mcp/index.ts';
import type { ResultReply } from '../../upstream/index.ts';
import { withTool } from '../call-errors.ts';
import { delimitedReply } from '../results/delimit-result.ts';
import type { Target } from '../target.ts';
import { exposedResult } from '../views/exposed-result.ts';
import type { CallRun } from './call-run.ts';

/** A server's result with exposed names and URIs, and marks around untrusted text. An error if that would be too much work. */
export function exposedReply(run: CallRun, result: ResultReply): ResultReply | HubError {
  const { path, call, target } = run;
  if (target.kind === 'resource' && isUiUri(target.ownName)) path.uis.read(call.request, target.server);
  if (target.kind === 'tool' && !mayHoldScopedUri(result.text)) return delimitedReply(target, result, path.random);
  try {
    return delimitedReply(target, exposed(run, result), path.random);
  } catch (error) {
    if (error instanceof HubError) return withTool(error, target);
    throw error;
  }
}

/** The protocol allows 100 values. */
const maxCompletionLength = 256 * 1024;

function exposed({ path, call, target }: CallRun, result: ResultReply): ResultReply {
  const { caller, args } = call.request;
  const view = path.views.of(caller.chain);
  if (target.kind === 'completion' && result.text.length > maxCompletionLength) throw endlessCompletion();
  if (!isRenamed(target) || result.text.length <= maxParsedAtOnce) return exposedResult(view, target, args, result);
  const { name, ownName } = target;
  const renamed = renameContents(result, (uri) => (uri.startsWith(ownName) ? name + uri.slice(ownName.length) : uri));
  return rewriteResultUris(renamed, (uri) => view.ownedUri(target.server, uri));
}

/** Renamed in the text, if the result is large. URIs of other schemes than `ui` and `skill` change only where two servers have the same. */
function isRenamed({ kind, name, ownName }: Target): boolean {
  return kind === 'resource' && name !== ownName && scopeUri('', ownName) === undefined;
}

function endlessCompletion(): HubError {
  const message = `The server answered with completions of over ${maxCompletionLength} characters.`;
  return new HubError('UPSTREAM_GARBLED', message, { hint: 'Type more of the value first.' });
}
