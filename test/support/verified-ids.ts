import { isNode, type Node, nodesOf, parseSource, walk } from '../architecture/source-file.ts';

/** The ids of the requirements that a test file verifies. Skipped tests do not count. */
export function verifiedIds(path: string, text: string): string[] {
  const file = parseSource(path, text);
  const ids: string[] = [];
  walk(file.program, (node, parent) => {
    if (node.type !== 'CallExpression' || !isNode(node.callee) || node.callee.name !== 'verifies') return;
    const id = nodesOf(node.arguments)[0]?.value;
    if (typeof id === 'string' && !(parent && isSwitchedOff(parent, file.text))) ids.push(id);
  });
  return ids;
}

function isSwitchedOff(parent: Node, text: string): boolean {
  if (parent.type !== 'CallExpression' || !isNode(parent.callee)) return false;
  return /\.(skip|skipIf|runIf|todo|fails)\b/.test(text.slice(parent.callee.start, parent.callee.end));
}
