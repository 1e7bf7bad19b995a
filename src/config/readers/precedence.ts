import { agentFiles } from './agent-files.ts';
import { ampFiles } from './clients/amp-settings.ts';
import { codexToml } from './clients/codex-toml.ts';
import { copilotFiles } from './clients/copilot-mcp-json.ts';
import { crushFiles } from './clients/crush-json.ts';
import { cursorMcpJson } from './clients/cursor-mcp-json.ts';
import { geminiExtension, geminiSettings, qwenSettings } from './clients/gemini-settings.ts';
import { librechatYaml } from './clients/librechat-yaml.ts';
import { looseFiles, rootMcpJson } from './clients/loose-files.ts';
import { mcpJson } from './clients/mcp-json.ts';
import { opencodeFiles } from './clients/opencode-json.ts';
import { qAgentFiles } from './clients/q-agents.ts';
import { vscodeMcpJson } from './clients/vscode-mcp-json.ts';
import { zedSettings } from './clients/zed-settings.ts';
import { enabledTools } from './enabled-tools.ts';
import { lockFile } from './lock-file.ts';
import { permissionFiles } from './permission-files.ts';
import { productManifest } from './product-manifest.ts';
import { quartermasterYaml } from './quartermaster-yaml.ts';
import type { Reader } from './reader.ts';
import { serverFiles } from './server-files.ts';
import { squadConfig } from './squad-config.ts';
import { formerSquadTeam, squadTeam } from './squad-team.ts';

/** Every file that is read, strongest first: if two define the same server, the first one wins. */
export const readers: readonly Reader[] = [
  quartermasterYaml,
  lockFile,
  squadConfig,
  agentFiles,
  squadTeam,
  formerSquadTeam,
  ...permissionFiles,
  serverFiles('.mcp/servers', ['.yaml', '.yml', '.json']),
  serverFiles('ops/adk/servers', ['.yaml', '.yml']),
  mcpJson,
  enabledTools,
  productManifest('product.json'),
  productManifest('manifest.json'),
  ...copilotFiles,
  vscodeMcpJson,
  cursorMcpJson,
  geminiSettings,
  ...opencodeFiles,
  codexToml,
  qwenSettings,
  ...looseFiles,
  ...qAgentFiles,
  zedSettings,
  ...ampFiles,
  ...crushFiles,
  librechatYaml,
  geminiExtension,
  rootMcpJson,
];
