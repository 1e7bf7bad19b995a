import { countedBytes, HubError } from '../../base/index.ts';
import type { CallRun } from './call-run.ts';

/**
 * Counts the texts of a call against the budget of its agent until the call ends; most are small and not counted.
 * Returns the refusal if there is no room. A call that is alone has room whatever its size: the limit of a message
 * decides on that.
 */
export function countArguments(run: CallRun): HubError | undefined {
  const { argumentsText, meta, inputs, name, caller } = run.call.request;
  const length = argumentsText.length + meta.length + name.length + (inputs === undefined ? 0 : inputs.length);
  if (length <= countedBytes || caller.account === undefined) return undefined;
  const budget = caller.account.arguments;
  const bytes = length + valueBytes * countValues(argumentsText);
  if (budget.used > 0 && !budget.hasRoomFor(bytes)) return tooManyArguments(length, budget.used);
  budget.add(bytes);
  run.countedArguments = bytes;
  return undefined;
}

/** The call has ended. */
export function releaseArguments({ call, countedArguments }: CallRun): void {
  if (countedArguments > 0) call.request.caller.account?.arguments.release(countedArguments);
}

/** What a small parsed value takes, such as an empty array. */
const valueBytes = 32;
const [comma, bracket, brace] = [0x2c, 0x5b, 0x7b];

/** At most as many values as the text has commas and opening brackets; those inside strings count too. */
function countValues(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === comma || code === bracket || code === brace) count++;
  }
  return count;
}

/** Names no tool: the answer is the same whether the agent may see it or not. */
function tooManyArguments(bytes: number, used: number): HubError {
  return new HubError(
    'OVERLOADED',
    `The arguments of this call have ${bytes} bytes, and those of this agent's calls in flight take ${used} already.`,
    { hint: 'Nothing was sent. Wait for some of your calls to end, or send less at once.' },
  );
}
