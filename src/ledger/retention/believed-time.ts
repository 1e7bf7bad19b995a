/**
 * What retention remembers of the clock. A clock that jumps, as after a flat battery, must not make everything old at
 * once. So a time that is far from the last one counts only after the clock has gone on from there for a day.
 */
export interface ClockMemory {
  /** The time of the last look. */
  readonly last: number;
  /** When the clock began to go on without a jump. */
  readonly since: number;
  /** The time that counted before that. Null: none. */
  readonly before: number | null;
}

export function rememberTime(memory: ClockMemory | undefined, now: number): ClockMemory {
  if (memory === undefined) return { last: now, since: now, before: null };
  const moved = now - memory.last;
  if (moved <= doubtMs && moved >= -correctionMs) return { ...memory, last: now };
  return { last: now, since: now, before: believedTime(memory) ?? null };
}

/** The time by which files are old. Undefined: no file is, until the clock has been watched for a day. */
export function believedTime({ last, since, before }: ClockMemory): number | undefined {
  if (last - since >= doubtMs) return last;
  return before === null ? undefined : Math.min(before, last);
}

export function isClockMemory(value: Readonly<Record<string, unknown>>): boolean {
  const { last, since, before } = value;
  return Number.isFinite(last) && Number.isFinite(since) && (before === null || Number.isFinite(before));
}

/** How far the clock may be from the last look: a machine that slept for the night is not in doubt. */
const doubtMs = 24 * 60 * 60_000;
/** How far a correction may set it back. */
export const correctionMs = 60 * 60_000;
