// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

const schemaFile = 'node_modules/quartermaster/quartermaster.schema.json';

/**
 * Lets editors complete and validate the file. Only where the package is installed in the workspace: teams share the file,
 * so that it must not name a place on one machine.
 */
function schemaLines(workspace: string): string {
  return existsSync(join(workspace, schemaFile)) ? `# yaml-language-server: $schema=./${schemaFile}\n#\n` : '';
}

const title = '# The MCP servers of this workspace, and who may use which of their tools.\n';

/** A file to which a command adds the first entry. */
export function newConfigFile(workspace: string): string {
  return `${schemaLines(workspace)}${title}version: 1\n`;
}

/** The file of `qm init`: valid as it is, and with any of its examples without the comment sign. */
export function firstConfigFile(workspace: string): string {
  return `${schemaLines(workspace)}${title}${firstContent}`;
}

const firstContent = `\
# \`qm add NAME -- PROGRAM ARGS…\` and \`qm add NAME URL\` add servers here, \`qm doctor\` tests them.
# docs/configuration.md of Quartermaster explains every key.
version: 1

# Servers that the hub starts or contacts. Files such as .mcp.json in this folder are read too.
servers:
  # files:
  #   command: npx
  #   args: [-y, "@modelcontextprotocol/server-filesystem", .]
  # docs:
  #   url: https://docs.example.com/mcp
  #   headers:
  #     Authorization: Bearer \${DOCS_TOKEN} # store the value with \`qm secret set DOCS_TOKEN\`

# The servers of each agent. Without this section, every agent has every server.
# agents:
#   tester:
#     servers: [files]

# Rules for tools: allow, require-approval or deny. An exact name beats a pattern.
# policies:
#   tools:
#     files.write_file: require-approval
#     "*.delete_*": deny
`;
