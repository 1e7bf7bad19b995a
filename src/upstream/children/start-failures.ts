import { errnoOf, HubError } from '../../base/index.ts';

/** Leaves out Node's error as the cause: it repeats arguments and variables, which may be secrets. */
export function notSpawned(
  { server, command }: { readonly server: string; readonly command: string },
  error: unknown,
): HubError {
  const code = errnoOf(error) ?? 'unknown reason';
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}": "${command}" was not started (${code}).`, {
    hint: 'Check its command, args and env, and the limits on processes and open files.',
    details: { server, command, reason: `not started (${code})` },
  });
}

export function unwatched(server: string): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" was not started: its watchdog does not stay alive.`, {
    hint: 'Check that /bin/sh works, and the limits on processes and open files.',
    details: { server },
  });
}

export function noStdioOnWindows(server: string): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}": stdio servers do not run on Windows yet.`, {
    hint: 'Run the hub inside WSL, or reach the server over HTTP.',
    details: { server },
  });
}

export function hubStopping(server: string): HubError {
  return new HubError('HUB_STOPPING', `Server "${server}" was not started: the hub is shutting down.`, {
    details: { server },
  });
}

export function noBuiltins(server: string): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}": this hub was made without built-in servers.`, {
    details: { server },
  });
}

/** A built-in server has no stderr, so its reason is part of the message. */
export function builtinNotOpened(server: string, { message, hint }: HubError): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" was not started. ${message}`, {
    ...(hint === undefined ? {} : { hint }),
    // With a command, agents read only the reason: the message may name a folder of this machine.
    details: { server, command: 'qm builtin', reason: 'the built-in server did not open' },
  });
}
