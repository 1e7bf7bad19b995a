// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.

/** Lets editors complete and validate the file. */
const schemaLine = '# yaml-language-server: $schema=./node_modules/quartermaster/quartermaster.schema.json';

/** A file to which a command adds the first entry. */
export const newConfigFile = `${schemaLine}
version: 1
`;

/** The file of \`qm init\`: valid as it is, and with any of its examples without the comment sign. */
export const firstConfigFile = `${schemaLine}
#
# The MCP servers of this workspace, and who may use which of their tools.
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
