import { type AgentAccount, countedBytes, HubError } from '../../base/index.ts';
import { heldBytesOf } from '../../mcp/index.ts';
import type { CallRequest } from '../call.ts';
import type { CallRun } from './call-run.ts';

/**
 * Counts a large call against the budget of its agent until the call ends: the whole message that it came with, or its
 * texts. Returns the refusal if there is no room.
 */
export function countArguments(run: CallRun): HubError | undefined {
  const { caller, heldBytes } = run.call.request;
  const bytes = heldBytes ?? bytesOfTexts(run.call.request);
  if (bytes === 0) return undefined;
  const refusal = countMessage(caller.account, bytes);
  if (refusal === undefined) run.countedArguments = bytes;
  return refusal;
}

/** The call has ended. */
export function releaseArguments({ call, countedArguments }: CallRun): void {
  if (countedArguments > 0) call.request.caller.account?.arguments.release(countedArguments);
}

/** A message that is alone has room whatever its size: the limit of a message decides on that. */
export function countMessage(account: AgentAccount | undefined, bytes: number): HubError | undefined {
  const budget = account?.arguments;
  if (budget === undefined) return undefined;
  if (budget.used > 0 && !budget.hasRoomFor(bytes)) return tooLargeTogether(bytes, budget.used);
  budget.add(bytes);
  return undefined;
}

function bytesOfTexts({ argumentsText, meta, inputs, name }: CallRequest): number {
  const length = argumentsText.length + meta.length + name.length + (inputs === undefined ? 0 : inputs.length);
  return length <= countedBytes ? 0 : Math.max(length, heldBytesOf(argumentsText));
}

/** Names no tool: the answer is the same whether the agent may see it or not. */
function tooLargeTogether(bytes: number, used: number): HubError {
  return new HubError(
    'OVERLOADED',
    `This request takes ${bytes} bytes, and those of this agent that are not answered yet take ${used} already.`,
    { hint: 'Nothing was sent. Wait for some of your calls to end, or send less at once.' },
  );
}
