import {
  type ParsedSource,
  type SourceEntry,
  type SourceNode,
  type SourceScalar,
  sourceMap,
} from '../files/source-tree.ts';

/**
 * Reads the members of a team page: one map of `name`, `role` and `status` per table row. Only tables under headings
 * for the current team count. A list of former members grants nothing. A table of agents under any other heading becomes
 * one map with `unread`, the heading.
 */
export function parseRoster(text: string): ParsedSource {
  const items: SourceNode[] = [];
  let columns: readonly string[] | undefined;
  let section = '';
  for (const { line, content } of proseLines(text)) {
    section = headingOf(content) ?? section;
    const counts = teamHeading.test(section);
    const cells = content.includes('|') ? splitCells(content) : undefined;
    if (cells === undefined) columns = undefined;
    else if (columns === undefined) {
      columns = cells.map((cell) => plain(cell).toLowerCase());
      if (!counts && isRoster(columns) && !formerHeading.test(section))
        items.push(sourceMap(line, [entry('unread', line, section)]));
    } else if (counts && !cells.every((cell) => /^:?-+:?$/.test(cell))) items.push(member(line, columns, cells));
    if (items.length > maxMembers) {
      return { kind: 'broken', line, column: 1, message: `more than ${maxMembers} members` };
    }
  }
  return { kind: 'tree', root: { kind: 'list', line: 1, items } };
}

const teamHeading =
  /^(?:coordinators?|(?:team )?members|(?:team )?roster|(?:the )?team|(?:coding |team |the )?agents?)$/i;

const formerHeading = /alumn|former|retired|past|archive|inactive/i;

function headingOf(content: string): string | undefined {
  const heading = /^ {0,3}#{1,6}[ \t]+(.*)$/s.exec(content)?.[1];
  return heading === undefined ? undefined : plain(heading);
}

/** Whether a table with these columns could list agents. */
function isRoster(columns: readonly string[]): boolean {
  return columns.includes('role') && nameColumns.some((each) => columns.includes(each));
}

/** What the column with the names is called. The first that a table has counts. */
const nameColumns = ['name', 'agent', 'member'];

const maxMembers = 1_000;

interface Line {
  readonly line: number;
  readonly content: string;
}

/** Skips comments and fenced code, which may contain example tables. */
function* proseLines(text: string): Generator<Line> {
  let fence: string | undefined;
  let inComment = false;
  for (const [index, written] of text.split(/\r\n?|\n/).entries()) {
    const mark = inComment ? undefined : /^ {0,3}(`{3,}|~{3,})/.exec(written)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && written.trim() === mark) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const [content, open] = withoutComments(written, inComment);
    inComment = open;
    yield { line: index + 1, content };
  }
}

function withoutComments(written: string, startsInside: boolean): [content: string, endsInside: boolean] {
  let content = '';
  let inside = startsInside;
  for (let at = 0; at < written.length; ) {
    const next = written.indexOf(inside ? '-->' : '<!--', at);
    if (!inside) content += written.slice(at, next < 0 ? written.length : next);
    if (next < 0) break;
    at = next + (inside ? 3 : 4);
    inside = !inside;
  }
  return [content, inside];
}

function splitCells(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

function member(line: number, columns: readonly string[], cells: readonly string[]): SourceNode {
  const name = nameColumns.find((each) => columns.includes(each)) ?? 'name';
  const entries = [['name', name] as const, ['role', 'role'] as const, ['status', 'status'] as const].flatMap(
    ([key, column]): SourceEntry[] => {
      const at = columns.indexOf(column);
      return at < 0 ? [] : [entry(key, line, plain(cells[at] ?? ''))];
    },
  );
  return sourceMap(line, entries);
}

function entry(key: string, line: number, text: string): SourceEntry {
  return { key, line, value: scalar(line, text) };
}

/** The visible text: the label of a link, without markup. */
function plain(cell: string): string {
  return cell
    .replace(/\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/[`*~]/g, '')
    .trim();
}

function scalar(line: number, text: string): SourceScalar {
  return { kind: 'scalar', line, value: text, text };
}
