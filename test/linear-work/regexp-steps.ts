import { compileProgram, type Program } from './regexp-program.ts';

/** Thrown when counting went over what was allowed: the rest would only take time. */
export class TooMuchWork extends Error {}

export interface Found {
  readonly index: number;
  readonly end: number;
}

export interface StepCounter {
  /** What `exec` finds from here on, with all its steps counted. */
  exec(pattern: RegExp, text: string, from: number): Found | undefined;
}

/** Compiled patterns, which counters of the same patterns share: compiling takes longer than most runs. */
export type CompiledPatterns = Map<string, Program>;

/** `spend` hears of every step, and may throw. */
export function createStepCounter(spend: (steps: number) => void, programs: CompiledPatterns): StepCounter {
  return {
    exec(pattern, text, from) {
      const key = String(pattern);
      let program = programs.get(key);
      if (program === undefined) {
        program = compileProgram(pattern);
        programs.set(key, program);
      }
      for (let index = from; index <= text.length; index++) {
        const end = run(program, text, index, spend);
        if (end !== undefined) return { index, end };
        if (pattern.sticky) return undefined;
      }
      return undefined;
    },
  };
}

interface Thread {
  readonly pc: number;
  readonly at: number;
  /** Where each loop that may match nothing was entered. */
  readonly entered: readonly number[];
}

function run(program: Program, text: string, start: number, spend: (steps: number) => void): number | undefined {
  const waiting: Thread[] = [{ pc: 0, at: start, entered: [] }];
  for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
    let { pc, at, entered } = thread;
    attempt: for (;;) {
      spend(1);
      const step = program.steps[pc];
      switch (step?.op) {
        case 'one': {
          const character = characterAt(program, text, at);
          if (character === '' || !step.fits(character)) break attempt;
          at += program.backwards ? -character.length : character.length;
          pc++;
          break;
        }
        case 'either':
          waiting.push({ pc: step.second, at, entered });
          pc = step.first;
          break;
        case 'goto':
          pc = step.to;
          break;
        case 'edge':
          if (!step.holds(text, at)) break attempt;
          pc++;
          break;
        case 'look':
          if ((run(step.program, text, at, spend) === undefined) !== step.negative) break attempt;
          pc++;
          break;
        case 'enter':
          entered = Object.assign([...entered], { [step.loop]: at });
          pc++;
          break;
        case 'moved':
          // As the language says: a loop ends where one turn of it matched nothing.
          if (entered[step.loop] === at) break attempt;
          pc++;
          break;
        default:
          return at;
      }
    }
  }
  return undefined;
}

function characterAt({ backwards, unicode }: Program, text: string, at: number): string {
  if (!backwards) return unicode ? wholeCharacterAt(text, at) : text.charAt(at);
  const before = text.charAt(at - 1);
  const isLow = unicode && before >= '\udc00' && before <= '\udfff' && at > 1;
  return isLow && (text.codePointAt(at - 2) ?? 0) > 0xffff ? text.slice(at - 2, at) : before;
}

function wholeCharacterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
