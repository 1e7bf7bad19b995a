import type { UpstreamReply } from '../../upstream/index.ts';
import { unsent } from '../call-errors.ts';
import { subscribeToResource } from '../subscriptions/subscribe-to-resource.ts';
import { carriedCapabilities, carriedMeta, paramsOf } from '../target.ts';
import type { CallRun } from './call-run.ts';

/** Sends the call, unless it was cancelled while its record was written. */
export function send(run: CallRun): Promise<UpstreamReply> | UpstreamReply {
  const { cancelled } = run.call;
  return cancelled === undefined ? sendWith(run, run.inputs) : unsent(cancelled);
}

/** `inputs` are members of `params`: the caller's answers to the server's requests. */
export function sendWith(run: CallRun, inputs: string): Promise<UpstreamReply> {
  const { call, target, connection, record } = run;
  const { request } = call;
  run.inputs = inputs;
  const { limits } = target.control.spec;
  const span = run.path.traced?.sent(record, connection);
  const pending =
    target.kind === 'subscription'
      ? subscribeToResource(run.dispatch, connection, {
          uri: target.ownName,
          account: request.caller.account,
          subscription: request.subscription,
        })
      : connection.send({
          method: target.method,
          members: paramsOf(target, request.argumentsText, inputs),
          meta: carriedMeta(request, span, connection, record.id),
          headers: span?.headers,
          name: target.ownName,
          mirrored: target.mirrored,
          args: target.mirrored.length === 0 ? undefined : request.args,
          timeoutMs: limits.timeoutMs,
          maxMs: limits.maxMs,
          capabilities: carriedCapabilities(request, target),
          handlers: request.channel === undefined ? undefined : call,
          account: request.caller.account,
        });
  call.wasSent(pending);
  // Headers are made of them again if the call is repeated, and completions are matched with them.
  const areNeeded = target.mirrored.length > 0 || target.kind === 'completion';
  if (run.countedArguments > 0 && !areNeeded) call.dropParsedArguments();
  return target.cacheUse === undefined ? pending.reply : target.cacheUse.follow(target, call, inputs, pending.reply);
}
