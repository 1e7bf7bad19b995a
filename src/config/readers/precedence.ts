import { agentFiles } from './agent-files.ts';
import { codexToml } from './clients/codex-toml.ts';
import { copilotConfigJson, copilotGithubJson } from './clients/copilot-mcp-json.ts';
import { cursorMcpJson } from './clients/cursor-mcp-json.ts';
import { geminiSettings } from './clients/gemini-settings.ts';
import { mcpJson } from './clients/mcp-json.ts';
import { opencodeJson, opencodeJsonc } from './clients/opencode-json.ts';
import { vscodeMcpJson } from './clients/vscode-mcp-json.ts';
import { enabledTools } from './enabled-tools.ts';
import { productManifest } from './product-manifest.ts';
import { quartermasterYaml } from './quartermaster-yaml.ts';
import type { Reader } from './reader.ts';
import { serverFiles } from './server-files.ts';
import { squadConfig } from './squad-config.ts';
import { formerSquadTeam, squadTeam } from './squad-team.ts';

/** Every file that is read, strongest first: if two define the same server, the first one wins. */
export const readers: readonly Reader[] = [
  quartermasterYaml,
  squadConfig,
  agentFiles,
  squadTeam,
  formerSquadTeam,
  serverFiles('.mcp/servers', ['.yaml', '.yml', '.json']),
  serverFiles('ops/adk/servers', ['.yaml', '.yml']),
  mcpJson,
  enabledTools,
  productManifest('product.json'),
  productManifest('manifest.json'),
  copilotGithubJson,
  copilotConfigJson,
  vscodeMcpJson,
  cursorMcpJson,
  geminiSettings,
  opencodeJsonc,
  opencodeJson,
  codexToml,
];
