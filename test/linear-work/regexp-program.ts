import { type AST, RegExpParser } from '@eslint-community/regexpp';

/** A regular expression as steps of a machine that goes back when it fails, as Node's own does. */
export type Step =
  | { readonly op: 'one'; readonly fits: (character: string) => boolean }
  | { readonly op: 'either'; first: number; second: number }
  | { readonly op: 'goto'; to: number }
  | { readonly op: 'edge'; readonly holds: (text: string, at: number) => boolean }
  | { readonly op: 'look'; readonly program: Program; readonly negative: boolean }
  | { readonly op: 'enter'; readonly loop: number }
  | { readonly op: 'moved'; readonly loop: number }
  | { readonly op: 'match' };

export interface Program {
  readonly steps: readonly Step[];
  readonly backwards: boolean;
  readonly unicode: boolean;
}

export function parsePattern(pattern: RegExp): AST.Pattern {
  return new RegExpParser().parsePattern(pattern.source, 0, pattern.source.length, { unicode: pattern.unicode });
}

export function compileProgram(pattern: RegExp): Program {
  const compiler = new Compiler(pattern, false);
  compiler.alternatives(parsePattern(pattern).alternatives);
  return compiler.finish();
}

class Compiler {
  readonly #steps: Step[] = [];
  readonly #pattern: RegExp;
  readonly #backwards: boolean;
  #loops = 0;

  constructor(pattern: RegExp, backwards: boolean) {
    this.#pattern = pattern;
    this.#backwards = backwards;
  }

  finish(): Program {
    this.#steps.push({ op: 'match' });
    return { steps: this.#steps, backwards: this.#backwards, unicode: this.#pattern.unicode };
  }

  alternatives(all: readonly AST.Alternative[]): void {
    const ends: { to: number }[] = [];
    for (const [index, { elements }] of all.entries()) {
      const fork = index < all.length - 1 ? this.#add({ op: 'either', first: this.#next() + 1, second: 0 }) : undefined;
      for (const element of this.#backwards ? [...elements].reverse() : elements) this.#element(element);
      if (fork === undefined) break;
      ends.push(this.#add({ op: 'goto', to: 0 }));
      fork.second = this.#next();
    }
    for (const end of ends) end.to = this.#next();
  }

  #element(element: AST.Element): void {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        this.alternatives(element.alternatives);
        return;
      case 'Quantifier':
        this.#quantifier(element);
        return;
      case 'Assertion':
        this.#assertion(element);
        return;
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        this.#add({ op: 'one', fits: fitter(element.raw, this.#pattern.flags) });
        return;
      default:
        throw new Error(`${element.type} is not counted yet`);
    }
  }

  #quantifier({ element, min, max, greedy }: AST.Quantifier): void {
    for (let count = 0; count < min; count++) this.#element(element);
    if (max === Number.POSITIVE_INFINITY) {
      const loop = this.#loops++;
      const start = this.#next();
      const fork = this.#fork(greedy);
      const mayStay = canBeEmpty(element);
      if (mayStay) this.#add({ op: 'enter', loop });
      this.#element(element);
      if (mayStay) this.#add({ op: 'moved', loop });
      this.#add({ op: 'goto', to: start });
      fork.leave(this.#next());
      return;
    }
    const forks: { leave(to: number): void }[] = [];
    for (let count = min; count < max; count++) {
      forks.push(this.#fork(greedy));
      this.#element(element);
    }
    for (const fork of forks) fork.leave(this.#next());
  }

  #fork(greedy: boolean): { leave(to: number): void } {
    const step = this.#add({ op: 'either', first: this.#next() + 1, second: this.#next() + 1 });
    return {
      leave(to) {
        if (greedy) step.second = to;
        else step.first = to;
      },
    };
  }

  #assertion(assertion: AST.Assertion): void {
    if (assertion.kind === 'lookahead' || assertion.kind === 'lookbehind') {
      const inner = new Compiler(this.#pattern, assertion.kind === 'lookbehind');
      inner.alternatives(assertion.alternatives);
      this.#add({ op: 'look', program: inner.finish(), negative: assertion.negate });
      return;
    }
    const probe = new RegExp(assertion.raw, `${this.#pattern.flags.replace(/[gy]/g, '')}y`);
    this.#add({ op: 'edge', holds: (text, at) => edgeHolds(probe, text, at) });
  }

  #next(): number {
    return this.#steps.length;
  }

  #add<S extends Step>(step: S): S {
    this.#steps.push(step);
    return step;
  }
}

function canBeEmpty(element: AST.Element): boolean {
  switch (element.type) {
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.some(({ elements }) => elements.every(canBeEmpty));
    case 'Quantifier':
      return element.min === 0 || canBeEmpty(element.element);
    case 'Assertion':
      return true;
    default:
      return false;
  }
}

/** The characters around a place are all that `^`, `$` and `\b` look at. */
function edgeHolds(probe: RegExp, text: string, at: number): boolean {
  const around = text.slice(Math.max(0, at - 1), at + 1);
  probe.lastIndex = at === 0 ? 0 : 1;
  return nativeTest(probe, around);
}

const nativeExec = RegExp.prototype.exec;

function nativeTest(probe: RegExp, text: string): boolean {
  return nativeExec.call(probe, text) !== null;
}

function fitter(raw: string, flags: string): (character: string) => boolean {
  const probe = new RegExp(`^(?:${raw})$`, flags.replace(/[gy]/g, ''));
  const known = new Map<string, boolean>();
  return (character) => {
    let fits = known.get(character);
    if (fits === undefined) {
      fits = nativeTest(probe, character);
      known.set(character, fits);
    }
    return fits;
  };
}
