import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

/**
 * The library's declarations as one file: what its entry exports and everything that is needed to describe that.
 * Programs cannot import the other parts, so they need not see them. Nothing is renamed, since no two parts of this
 * repository export the same name; where that does not hold, this throws. (The plugins that do the same need a newer
 * Node than the oldest that is supported here.)
 * @param {string} entry
 */
export function rollUpTypes(entry) {
  const files = new Map();
  /** Names of declarations, with the file of each. */
  const taken = new Map();
  const texts = [];
  const imports = new Set();

  function fileAt(path) {
    if (!files.has(path)) files.set(path, readDeclarations(path));
    return files.get(path);
  }

  function take(path, name) {
    const { declared, imported, exported } = fileAt(path);
    const origin = declared.has(name) ? undefined : (imported.get(name) ?? exported.get(name));
    if (origin !== undefined) return takeFrom(origin, name);
    if (!declared.has(name)) return name;
    if (taken.has(name) && taken.get(name) !== path) throw new Error(`${name}: in ${path} and in ${taken.get(name)}`);
    if (taken.has(name)) return name;
    taken.set(name, path);
    const { text, names } = declared.get(name);
    texts.push(text);
    for (const used of names) {
      const known = take(path, used);
      if (known !== used) throw new Error(`${path}: ${used} is ${known} elsewhere; use one name`);
    }
    return name;
  }

  /** The name of the declaration behind an import, wherever it is handed on to. */
  function takeFrom({ source, name: original }, local) {
    if (source.endsWith('.d.ts')) return take(source, original);
    imports.add(`import type { ${original === local ? local : `${original} as ${local}`} } from '${source}';`);
    return local;
  }

  const exports = [...fileAt(entry).exported].map(([name, { source, name: original, isType }]) => {
    const known = take(source, original);
    return `${isType ? 'type ' : ''}${known === name ? name : `${known} as ${name}`}`;
  });
  return `${[...imports, ...texts, `export { ${exports.join(', ')} };`].join('\n')}\n`;
}

function readDeclarations(path) {
  const text = readFileSync(path, 'utf8');
  const read = { declared: new Map(), imported: new Map(), exported: new Map() };
  let end = 0;
  for (const statement of parseAst(text, { lang: 'dts' }).body) {
    // With the comment before it.
    const whole = text.slice(end, statement.end).trim();
    end = statement.end;
    const source = statement.source && resolve(path, statement.source.value);
    for (const { local, imported, exported, exportKind } of statement.specifiers ?? []) {
      const isType = statement.exportKind === 'type' || exportKind === 'type';
      if (imported) read.imported.set(local.name, { source, name: imported.name });
      else read.exported.set(exported.name, { source, name: local.name, isType });
    }
    const declaration = statement.declaration ?? statement;
    for (const { id } of declaration.declarations ?? [declaration]) {
      if (id) read.declared.set(id.name, { text: withoutExport(whole), names: namesIn(declaration, path) });
    }
  }
  return read;
}

function resolve(path, name) {
  return name.startsWith('.') ? join(dirname(path), name.replace(/\.ts$/, '.d.ts')) : name;
}

function withoutExport(text) {
  return text.replace(/^((?:\/\*[\s\S]*?\*\/\s*)*)export /, '$1');
}

/** All identifiers, since a name that is none of ours does no harm. */
function namesIn(node, path, names = new Set()) {
  if (node.type === 'TSImportType') throw new Error(`${path}: import a type at the top`);
  if (node.type === 'Identifier') names.add(node.name);
  for (const child of Object.values(node).flat()) {
    if (typeof child?.type === 'string') namesIn(child, path, names);
  }
  return names;
}
