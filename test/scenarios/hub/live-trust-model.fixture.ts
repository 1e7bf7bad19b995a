import type { TrustMode } from '../../../src/workspace-trust/index.ts';

export interface Server {
  readonly name: string;
  readonly command: string;
}

interface Word<T> {
  /** Null: nothing is approved on the branch any more. */
  readonly value: T | null;
  readonly turn: number;
}

/** The last words of the operator about one item, by branch. */
class Words<T> {
  readonly #byBranch = new Map<string, Word<T>>();

  say(branch: string, value: T | null, turn: number): void {
    this.#byBranch.set(branch, { value, turn });
  }

  forget(): void {
    this.#byBranch.clear();
  }

  get isKnown(): boolean {
    return this.#byBranch.size > 0;
  }

  isOn(branch: string): boolean {
    return this.#byBranch.has(branch);
  }

  /** The newest first. */
  counting(branch: string): readonly T[] {
    const here = this.#byBranch.get(branch);
    const words = here === undefined ? [...this.#byBranch.values()] : [here];
    const newest = words.sort((one, other) => other.turn - one.turn);
    return newest.flatMap(({ value }) => (value === null ? [] : [value]));
  }
}

/** The files as they are on disk. Undefined: missing. */
export interface Files {
  rules: string | undefined;
  servers: readonly Server[] | undefined;
}

const quietMs = 3000;
/** Timers may fire this much before their time. */
const earlyMs = 50;

/** What the hub may allow at most, told from the steps alone. */
export class TrustModel {
  readonly disk: Files;
  branch = 'main';
  /** In use: a missing or empty file has its last good text. */
  rules: string;
  servers: readonly Server[];
  /** The last rules that were quiet, or that the operator meant. */
  #settled: string;
  readonly #approvedRules = new Words<string>();
  readonly #approvedServers: ReadonlyMap<string, Words<string>>;
  readonly #mode: TrustMode;
  #turn = 0;
  #now = 0;
  #seen: string;
  #seenAt = 0;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(mode: TrustMode, names: readonly string[], first: { rules: string; servers: readonly Server[] }) {
    this.#mode = mode;
    this.disk = { ...first };
    this.rules = first.rules;
    this.servers = first.servers;
    this.#settled = first.rules;
    this.#approvedServers = new Map(names.map((name) => [name, new Words<string>()]));
    this.#seen = this.#diskText();
  }

  /** Versions of the rules; what an agent does must be allowed by one of them. */
  get trustedRules(): readonly string[] {
    return this.#mode === 'all' ? [this.#settled] : this.#approvedRules.counting(this.branch);
  }

  mayRun({ name, command }: Server): boolean {
    if (!this.servers.some((each) => each.name === name)) return false;
    if (this.#mode === 'all') return this.servers.some((each) => each.name === name && each.command === command);
    return this.#approvedServers.get(name)?.counting(this.branch).includes(command) === true;
  }

  get isTimerDue(): boolean {
    return this.#timerAt <= this.#now;
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  /** The hub reads the files because of an event or because time has passed. */
  look(isTimer: boolean): void {
    const isMeant = this.#quietFor() >= quietMs - earlyMs && isTimer;
    this.#timerAt = isMeant ? Number.POSITIVE_INFINITY : this.#now + quietMs;
    this.rules = this.disk.rules || this.rules;
    this.servers = this.disk.servers ?? this.servers;
    if (isMeant) this.#settled = this.rules;
  }

  /** The operator says that these files are as meant. */
  takeUp(files: { readonly rules: boolean; readonly servers: boolean }): void {
    this.#quietFor();
    if (files.servers) this.servers = this.disk.servers ?? [];
    if (!files.rules) return;
    this.rules = this.disk.rules ?? '';
    this.#settled = this.rules;
  }

  approve(what: 'all' | 'servers'): void {
    this.#turn += 1;
    const [rules, counting] = [this.disk.rules ?? '', this.#approvedRules.counting(this.branch)];
    const coversRules = what === 'all' || counting.length === 0;
    if (coversRules) this.#approvedRules.say(this.branch, rules, this.#turn);
    else if (!this.#approvedRules.isOn(this.branch)) {
      const kept = counting.find((each) => each === rules) ?? counting[0] ?? null;
      this.#approvedRules.say(this.branch, kept, this.#turn);
    }
    const onDisk = new Map((this.disk.servers ?? []).map(({ name, command }) => [name, command]));
    for (const [name, words] of this.#approvedServers) {
      const command = onDisk.get(name);
      const isGone = coversRules ? words.isKnown : words.isOn(this.branch);
      if (command !== undefined) words.say(this.branch, command, this.#turn);
      else if (isGone) words.say(this.branch, null, this.#turn);
    }
  }

  revoke(server: string): void {
    this.#approvedServers.get(server)?.forget();
  }

  /** For how long the hub has seen the files as they are. */
  #quietFor(): number {
    const seen = this.#diskText();
    if (seen !== this.#seen) this.#seenAt = this.#now;
    this.#seen = seen;
    return this.#now - this.#seenAt;
  }

  #diskText(): string {
    return JSON.stringify([this.disk.rules ?? null, this.disk.servers ?? null]);
  }
}
