import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What Linux tells of processes. */
export function isAlive(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !'ZX'.includes(text.charAt(text.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** Children that a hub started, by the mark in their environment: [{ pid, label }]. */
export function childrenOf(hubPid) {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^[0-9]+$/.test(name)) return [];
    try {
      const mark = readFileSync(`/proc/${name}/environ`, 'latin1')
        .split('\0')
        .find((entry) => entry.startsWith('QUARTERMASTER_CHILD='));
      if (/^QUARTERMASTER_CHILD=[0-9a-z]+:([0-9]+):/.exec(mark ?? '')?.[1] !== String(hubPid)) return [];
      const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return isAlive(name) ? [{ pid: Number(name), label: argv[argv.indexOf('--label') + 1] }] : [];
    } catch {
      return [];
    }
  });
}

/** Resident bytes, open descriptors, threads and processor time of a process. */
export function usageOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // After the name in brackets: user and system time are the 12th and 13th, in hundredths of a second.
  const times = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const number = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  return {
    rss: number('VmRSS') * 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: number('Threads'),
    cpuMs: (Number(times[11]) + Number(times[12])) * 10,
  };
}

/** Bytes of all files below a folder; 0 where there is none. */
export function diskUsage(folder) {
  let sum = 0;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      try {
        sum += statSync(join(entry.parentPath ?? entry.path, entry.name)).size;
      } catch {
        // Gone meanwhile.
      }
    }
  } catch {
    return sum;
  }
  return sum;
}
