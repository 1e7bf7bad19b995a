import type { BoundedText } from './bounded-text.ts';

/** Text as lines within quotes and lists; nothing is written before it is known to have something in it. */
export interface Lines {
  /** Runs of white space become one space. */
  words(text: string): void;
  /** White space stays; what follows a line break stands under what was before. */
  verbatim(text: string): void;
  /** A line that is finished as it is. */
  line(text: string): void;
  /** What follows begins on a line of its own, or after an empty one. */
  end(lines: 1 | 2): void;
  /** Begins the next line, once. */
  lead(text: string): void;
  enter(container: Container): void;
  leave(): void;
  mark(mark: Mark): void;
  unmark(name: string): void;
  /** From here on, text is kept; no line ends in it. */
  hold(): void;
  /** What was kept, if anything is being kept. */
  release(): string | undefined;
  readonly held: number;
}

/** A quote or a list; in an item of a list, `first` stands once and `rest` below it. */
export interface Container {
  first: string;
  rest: string;
}

export interface Mark {
  readonly name: string;
  readonly begin: string;
  readonly end: string;
}

/** Deeper ones are not seen, or a short page could have endless lines. */
const maxContainers = 8;
/** Of preformatted text, in a row. */
const maxEmptyLines = 100;

export function createLines(output: BoundedText): Lines {
  const containers: Container[] = [];
  /** Wanted around the next text, and around the text now. */
  let wanted: Mark[] = [];
  let active: Mark[] = [];
  let leading = '';
  let isOnLine = false;
  let owed = 0;
  let space = false;
  let lastRest = '';
  let kept: string | undefined;

  function put(text: string): void {
    if (kept === undefined) output.add(text);
    else kept += text;
  }

  function rest(): string {
    return containers.slice(0, maxContainers).reduce((prefix, each) => prefix + each.rest, '');
  }

  function startLine(): void {
    const below = rest();
    const blank = (below.length < lastRest.length ? below : lastRest).trimEnd();
    if (output.length > 0) {
      put('\n');
      for (let more = 1; more < owed; more++) put(`${blank}\n`);
    }
    for (const each of containers.slice(0, maxContainers)) {
      put(each.first === '' ? each.rest : each.first);
      each.first = '';
    }
    put(leading);
    leading = '';
    lastRest = below;
    owed = 0;
    isOnLine = true;
  }

  function begin(): void {
    if (kept === undefined && !isOnLine) startLine();
    else if (space && kept !== '') put(' ');
    space = false;
    for (const mark of wanted) put(mark.begin);
    active.push(...wanted);
    wanted = [];
  }

  /** Marks end with their line, and begin again on the next. */
  function suspend(from = 0): void {
    if (active.length === from) return;
    const ended = active.slice(from);
    for (const mark of ended.toReversed()) put(mark.end);
    active = active.slice(0, from);
    wanted = [...ended, ...wanted];
  }

  function end(lines: 1 | 2): void {
    if (kept !== undefined) {
      space = true;
      return;
    }
    suspend();
    space = false;
    owed = Math.max(Math.min(owed, 2), lines);
    isOnLine = false;
  }

  return {
    words(text) {
      const words = text.replace(/[ \t\n\f\r\u00a0]+/g, ' ');
      const inner = words.trim();
      if (words.startsWith(' ')) space = true;
      if (inner === '') return;
      begin();
      put(inner);
      space = words.endsWith(' ');
    },
    verbatim(text) {
      const newLine = `\n${rest()}`;
      for (const [index, line] of text.split('\n').entries()) {
        if (index > 0 && owed <= maxEmptyLines) owed++;
        if (line === '' || output.isFull) continue;
        if (!isOnLine) startLine();
        for (; owed > 0 && !output.isFull; owed--) put(newLine);
        put(line);
      }
    },
    line(text) {
      end(1);
      startLine();
      put(text);
      end(1);
    },
    end,
    lead(text) {
      if (kept === undefined) leading = text;
    },
    enter(container) {
      containers.push(container);
    },
    leave() {
      containers.pop();
    },
    mark(mark) {
      wanted.push(mark);
    },
    unmark(name) {
      wanted = wanted.filter((each) => each.name !== name);
      const at = active.findIndex((each) => each.name === name);
      if (at === -1) return;
      suspend(at);
      wanted = wanted.filter((each) => each.name !== name);
    },
    hold() {
      suspend();
      kept = '';
      space = false;
    },
    release() {
      if (kept !== undefined) suspend();
      const text = kept;
      kept = undefined;
      space = false;
      return text;
    },
    get held() {
      return kept?.length ?? 0;
    },
  };
}
