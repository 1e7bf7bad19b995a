import { isDeepStrictEqual } from 'node:util';
import { appendItem, type Edited, putMember, removeMember, replaceMember } from '../text/edit-text.ts';
import { splice } from '../text/line-text.ts';
import { openTree } from '../text/open-tree.ts';
import { type Dialect, memberAt, memberEnd, nodeAt, plainOf, type TextNode, type TextTree } from '../text/text-tree.ts';
import { tomlTextOf } from '../text/toml-edits.ts';
import {
  type FileStep,
  type KeyPath,
  spliceBetween,
  type TakenStep,
  type TakenSteps,
  type TextSplice,
} from './file-step.ts';
import { afterStep, isSameContent } from './plain-value.ts';

export type StepsOutcome =
  | ({ readonly kind: 'taken' } & TakenSteps)
  /** The text cannot be parsed, or something is in the way of that step. */
  | { readonly kind: 'refused'; readonly step: FileStep };

/** Takes the steps one after the other. One that changes nothing is left out. */
export function takeSteps(text: string, dialect: Dialect, steps: readonly FileStep[]): StepsOutcome {
  const taken: TakenStep[] = [];
  const splices: TextSplice[] = [];
  let after = text;
  for (const step of steps) {
    const opened = openTree(after, dialect);
    const found = opened.kind === 'tree' ? takeStep(opened.tree, step) : undefined;
    if (found === undefined) return { kind: 'refused', step };
    if (found.text === after) continue;
    splices.push(spliceBetween(after, found.text));
    taken.push(found.taken);
    after = found.text;
  }
  return { kind: 'taken', taken, splices, after };
}

interface Result {
  readonly text: string;
  readonly taken: TakenStep;
}

/** Undefined if the text has not the expected meaning afterwards. */
function takeStep(tree: TextTree, step: FileStep): Result | undefined {
  if (isRepeated(tree.root, step.path)) return undefined;
  const result = changed(tree, step);
  if (result === undefined || result.text === tree.text) return result;
  const opened = openTree(result.text, tree.dialect);
  if (opened.kind !== 'tree') return undefined;
  const expected = afterStep(plainOf(tree.root), step);
  return isSameContent(plainOf(opened.tree.root), expected, tree.dialect) ? result : undefined;
}

function changed(tree: TextTree, step: FileStep): Result | undefined {
  switch (step.kind) {
    case 'put':
      return put(tree, step);
    case 'remove':
      return remove(tree, step);
    case 'include':
      return include(tree, step);
  }
}

function put({ text, dialect, root }: TextTree, step: FileStep & { kind: 'put' }): Result | undefined {
  const { path, value } = step;
  const found = nodeAt(root, path);
  if (found === undefined) return result(putMember(text, dialect, path, value), { step, made: missingIn(root, path) });
  if (isDeepStrictEqual(plainOf(found), value)) return { text, taken: { step, made: 0 } };
  if (found.kind !== 'scalar' || found.alias) return undefined;
  const replaced = text.slice(found.start, found.end);
  return result(replaceMember(text, dialect, path, value), { step, replaced, made: 0 });
}

function remove({ text, dialect, root }: TextTree, step: FileStep & { kind: 'remove' }): Result | undefined {
  const { path } = step;
  const map = nodeAt(root, path.slice(0, -1));
  const member = memberAt(map, path.at(-1) ?? '');
  if (member === undefined || map?.kind !== 'map') return { text, taken: { step, made: 0 } };
  const behind = map.members[map.members.indexOf(member) - 1]?.key;
  const replaced = dialect === 'toml' ? tomlTextOf(text, path) : text.slice(member.keyStart, memberEnd(member));
  if (replaced === undefined) return undefined;
  const edited = removeMember(text, dialect, path);
  const isOnly = dialect === 'yaml' && !map.flow && map.members.length === 1;
  return result(isOnly ? withEmptyMap(edited, root, path.slice(0, -1)) : edited, { step, replaced, behind, made: 0 });
}

/** Without an empty map, a key of YAML whose only member went would have no value. */
function withEmptyMap(edited: Edited, root: TextNode | undefined, path: KeyPath): Edited {
  const holder = memberAt(nodeAt(root, path.slice(0, -1)), path.at(-1) ?? '');
  if (edited.kind !== 'edited' || holder === undefined) return edited;
  const value = edited.text.indexOf(':', holder.keyEnd) + 1;
  return { kind: 'edited', text: splice(edited.text, value, value, ' {}') };
}

function include({ text, dialect, root }: TextTree, step: FileStep & { kind: 'include' }): Result | undefined {
  const { path, item } = step;
  const list = nodeAt(root, path);
  if (list === undefined) {
    return result(putMember(text, dialect, path, [item]), { step, made: missingIn(root, path) + 1 });
  }
  if (list.kind !== 'list') return undefined;
  if (list.items.some((each) => plainOf(each) === item)) return { text, taken: { step, made: 0 } };
  return result(appendItem(text, dialect, path, item), { step, made: 0 });
}

function result(edited: Edited, taken: TakenStep): Result | undefined {
  return edited.kind === 'edited' ? { text: edited.text, taken } : undefined;
}

/** How many of the maps that should hold the member are missing. */
function missingIn(root: TextNode | undefined, path: KeyPath): number {
  let missing = 0;
  for (let length = path.length - 1; length > 0; length -= 1) {
    if (nodeAt(root, path.slice(0, length)) === undefined) missing += 1;
  }
  return missing;
}

/** Which of two members with one key counts is up to the program that reads the file. */
function isRepeated(root: TextNode | undefined, path: KeyPath): boolean {
  return path.some((key, index) => {
    const map = nodeAt(root, path.slice(0, index));
    return map?.kind === 'map' && map.members.filter((member) => member.key === key).length > 1;
  });
}
