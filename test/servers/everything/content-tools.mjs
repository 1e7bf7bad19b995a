import { fromJsonSchema } from '@modelcontextprotocol/server';
import { png, text, wav } from './samples.mjs';

/** Tools that answer at once: kinds of content, errors, schemas. */
export function registerContentTools(server) {
  const embedded = {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    text: 'This is an embedded resource content.',
  };
  const mixed = {
    uri: 'test://mixed-content-resource',
    mimeType: 'application/json',
    text: '{"test":"data","value":123}',
  };
  const image = { type: 'image', data: png, mimeType: 'image/png' };

  const constant = {
    test_simple_text: ['Returns one text', [text('This is a simple text response for testing.')]],
    test_image_content: ['Returns one image', [image]],
    test_audio_content: ['Returns one sound', [{ type: 'audio', data: wav, mimeType: 'audio/wav' }]],
    test_embedded_resource: ['Returns one embedded resource', [{ type: 'resource', resource: embedded }]],
    test_multiple_content_types: [
      'Returns text, image and resource',
      [text('Multiple content types test:'), image, { type: 'resource', resource: mixed }],
    ],
  };
  for (const [name, [description, content]] of Object.entries(constant)) {
    server.registerTool(name, { description, annotations: { readOnlyHint: true } }, () => ({ content }));
  }

  server.registerTool('test_error_handling', { description: 'Always fails' }, () => ({
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  }));

  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(schema2020) },
    (args) => ({ content: [text(JSON.stringify(args))] }),
  );

  server.registerTool(
    'test_x_mcp_header',
    { description: 'Mirrors an argument in a request header', inputSchema: fromJsonSchema(mirroredSchema) },
    (args) => ({ content: [text(`region=${args.region ?? ''}`)] }),
  );
}

const mirroredSchema = {
  type: 'object',
  properties: { region: { type: 'string', description: 'Where to run', 'x-mcp-header': 'Region' } },
};

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};
