import { readFileSync } from 'node:fs';

/** The limit on open files and connections of this process, or the usual limit if the system does not report one. */
export function descriptorLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    if (soft !== undefined) return Number(soft);
  } catch {
    // Only Linux has this file.
  }
  return usual;
}

const usual = 1024;
