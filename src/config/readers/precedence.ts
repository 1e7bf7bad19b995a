import { mcpJson } from './mcp-json.ts';
import { quartermasterYaml } from './quartermaster-yaml.ts';
import type { Reader } from './reader.ts';

/** Every file that is read, strongest first: where two name the same server, the upper one wins. */
export const readers: readonly Reader[] = [quartermasterYaml, mcpJson];
