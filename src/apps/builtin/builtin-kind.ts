import type { Clock, Logger } from '../../base/index.ts';
import type { ServedTool } from '../serving/index.ts';

/** The usage of a built-in server. */
export interface BuiltinUsage {
  /** The name after `qm builtin`, and after `builtin:` in a configuration. */
  readonly name: string;
  /** One line, for help. */
  readonly summary: string;
  readonly options: readonly BuiltinOption[];
  /** The environment variables it reads. */
  readonly variables: readonly { readonly name: string; readonly required: boolean; readonly purpose: string }[];
}

export interface BuiltinKind extends BuiltinUsage {
  /**
   * Rejects with a HubError, USAGE or CONFIG_INVALID, if the settings are unusable. It may
   * return before it reaches anything.
   */
  open(settings: BuiltinSettings, deps: BuiltinDeps): Promise<BuiltinServer>;
}

export interface BuiltinOption {
  /** Without the dashes. */
  readonly name: string;
  /** A placeholder for help: `SECONDS`. */
  readonly value: string;
  readonly purpose: string;
  /** The option may be repeated. */
  readonly multiple?: true;
}

/** The settings of a built-in server, whether it is its own process or runs inside the hub. */
export interface BuiltinSettings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export interface BuiltinDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An open server, serving one connection. */
export interface BuiltinServer {
  /** Tells the model what this server is for, and its limits. */
  readonly instructions: string;
  readonly tools: readonly ServedTool[];
  /** Rejects with a HubError if its backend does not answer; then nothing is served. */
  reach?(): Promise<void>;
  /** Releases its resources. The signals of in-flight calls have aborted by then. */
  close(): Promise<void>;
}
