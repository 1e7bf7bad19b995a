import { expect, test } from 'vitest';
import { declaresTasks, tasksExtension, withTasks } from './tasks-extension.ts';

test('the extension is declared by an object under its name, and by nothing else', () => {
  expect(declaresTasks({ extensions: { [tasksExtension]: {} } })).toBe(true);
  expect(declaresTasks({ extensions: { [tasksExtension]: { later: 1 }, other: {} } })).toBe(true);
  for (const value of [null, true, 'yes', [], undefined]) {
    expect(declaresTasks({ extensions: { [tasksExtension]: value } }), String(value)).toBe(false);
  }
  const inherited = { extensions: Object.create({ [tasksExtension]: {} }) as object };
  for (const other of [undefined, {}, { tasks: {} }, { extensions: [] }, { extensions: { other: {} } }, inherited]) {
    expect(declaresTasks(other)).toBe(false);
  }
});

test('it joins whatever else is declared', () => {
  const extensions = { [tasksExtension]: {} };
  expect(JSON.parse(withTasks('{}'))).toEqual({ extensions });
  expect(JSON.parse(withTasks('{"elicitation":{"form":{}}}'))).toEqual({ elicitation: { form: {} }, extensions });
});
