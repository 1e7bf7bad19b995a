import type { Plain } from '../../../workspace-files/index.ts';
import { openRecordedSecrets } from '../acts/recorded-secrets.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../terminal/confirm.ts';
import type { AddOrder } from './add-order.ts';
import type { LiteralInOrder } from './literal-in-order.ts';

/** More than any order has; it ends the loop if a replaced text still looks like a secret. */
const mostLiterals = 20;

/** Stores the secrets in the order, each after a question, and writes variables in their places. */
export async function storeLiterals(
  cli: CliContext,
  workspace: string,
  order: AddOrder,
  find: (order: AddOrder) => Promise<LiteralInOrder | undefined>,
): Promise<AddOrder> {
  const book = openRecordedSecrets(cli, workspace);
  let next = order;
  for (let round = 0; round < mostLiterals; round += 1) {
    const literal = await find(next);
    if (literal?.path === undefined || literal.value === '') return next;
    const { what, value, path, variable } = literal;
    const known = (await book.values()).get(variable);
    const act = known === undefined ? 'Store it as' : 'Replace the stored';
    const question = `Server ${order.name}: ${what} looks like a secret. ${act} ${variable}?`;
    if (known !== value) {
      if (!(await confirm(cli, question, { option: `\${${variable}}` }))) return next;
      await book.set(variable, value);
    }
    const body = replaceIn(next.body, path, (text) => text.replaceAll(value, `\${${variable}}`));
    next = { ...next, body: body as AddOrder['body'] }; // a replaced text leaves the shape as it is
  }
  return next;
}

function replaceIn(here: Plain, [key, ...rest]: readonly string[], change: (text: string) => string): Plain {
  if (key === undefined) return typeof here === 'string' ? change(here) : here;
  if (Array.isArray(here))
    return here.map((item: Plain, at) => (String(at) === key ? replaceIn(item, rest, change) : item));
  if (typeof here !== 'object' || here === null) return here;
  return Object.fromEntries(
    Object.entries(here).map(([name, item]): [string, Plain] => [
      name,
      name === key ? replaceIn(item, rest, change) : item,
    ]),
  );
}
