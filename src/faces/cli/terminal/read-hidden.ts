import { emitKeypressEvents, type Key } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export type HiddenText =
  | { readonly kind: 'text'; readonly text: string }
  /** More came after the end of the line: the terminal does not mark what is pasted. */
  | { readonly kind: 'several-lines' }
  | { readonly kind: 'too-long' }
  /** Ctrl-C, Ctrl-D, or it is no longer needed. */
  | { readonly kind: 'interrupt' };

export interface HiddenInput {
  readonly input: Readable & { setRawMode?(on: boolean): unknown };
  readonly output: Writable;
}

/** Terminals that know it put marks around pasted text, so that its line breaks can be told from the Enter key. */
const markPastes = { on: '\x1b[?2004h', off: '\x1b[?2004l' };

/** What a person types or pastes, up to Enter. Nothing of it is shown. Restores the terminal, however it ends. */
export function readHidden(
  { input, output }: HiddenInput,
  maxLength: number,
  signal: AbortSignal,
): Promise<HiddenText> {
  if (signal.aborted) return Promise.resolve({ kind: 'interrupt' });
  return new Promise((resolve) => {
    const line = createHiddenLine(maxLength);
    let ending: HiddenText | undefined;
    const finish = (): void => {
      input.off('keypress', onKey).off('end', interrupt);
      signal.removeEventListener('abort', interrupt);
      input.setRawMode?.(false);
      input.pause();
      output.write(markPastes.off);
      resolve(ending ?? { kind: 'interrupt' });
    };
    const end = (result: HiddenText): void => {
      if (ending === undefined) setImmediate(finish);
      ending = result;
    };
    const interrupt = (): void => end({ kind: 'interrupt' });
    const onKey = (text: string | undefined, key: Key): void => {
      // The keys of one read come at once, so these were pasted with the line before.
      const result = ending === undefined ? line.press(text, key) : ({ kind: 'several-lines' } as const);
      if (result !== undefined) end(result);
    };
    emitKeypressEvents(input);
    signal.addEventListener('abort', interrupt, { once: true });
    input.setRawMode?.(true);
    output.write(markPastes.on);
    input.on('keypress', onKey).once('end', interrupt);
    input.resume();
  });
}

interface HiddenLine {
  /** The result, if this key ends the line. */
  press(text: string | undefined, key: Key): HiddenText | undefined;
}

function createHiddenLine(maxLength: number): HiddenLine {
  let characters: string[] = [];
  let pasting = false;

  function edit(text: string | undefined, { name, ctrl, meta }: Key): void {
    if (ctrl === true && name === 'u') characters = [];
    else if (name === 'backspace') characters.pop();
    else if (ctrl !== true && meta !== true && text !== undefined && text >= ' ') characters.push(...text);
  }

  return {
    press(text, key) {
      const { name = '', ctrl = false } = key;
      if (name === 'paste-start' || name === 'paste-end') {
        pasting = name === 'paste-start';
      } else if (pasting) {
        // A paste has a carriage return where its text has a line break.
        characters.push(...(text ?? '').replace('\r', '\n'));
      } else if (name === 'return' || name === 'enter') {
        return { kind: 'text', text: characters.join('') };
      } else if (ctrl && (name === 'c' || name === 'd')) {
        return { kind: 'interrupt' };
      } else {
        edit(text, key);
      }
      return characters.length > maxLength ? { kind: 'too-long' } : undefined;
    },
  };
}
