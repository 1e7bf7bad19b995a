import { readFileSync } from 'node:fs';

/** How many files and connections this process may have open; the usual limit where the system does not say. */
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
