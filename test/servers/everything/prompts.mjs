import { acceptedContent, completable, inputRequired } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { form } from './forms.mjs';
import { png, text } from './samples.mjs';

const cities = ['paris', 'park', 'party', 'test', 'testing'];

export function registerPrompts(server) {
  server.registerPrompt('test_simple_prompt', { description: 'Without arguments' }, () =>
    says(text('This is a simple prompt for testing.')),
  );

  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'With two arguments',
      argsSchema: z.object({
        arg1: completable(z.string().describe('First test argument'), (typed) =>
          cities.filter((city) => city.startsWith(typed)),
        ),
        arg2: z.string().describe('Second test argument'),
      }),
    },
    ({ arg1, arg2 }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );

  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'Embeds a resource',
      argsSchema: z.object({ resourceUri: z.string().describe('URI of the resource to embed') }),
    },
    ({ resourceUri }) =>
      says(
        {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
        text('Please process the embedded resource above.'),
      ),
  );

  server.registerPrompt('test_prompt_with_image', { description: 'Holds an image' }, () =>
    says({ type: 'image', data: png, mimeType: 'image/png' }, text('Please analyze the image above.')),
  );

  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for its context' }, (ctx) => {
    const context = acceptedContent(ctx.mcpReq.inputResponses, 'user_context')?.context;
    if (context !== undefined) return says(text(`Use this context: ${context}`));
    return inputRequired({
      inputRequests: {
        user_context: inputRequired.elicit({
          message: 'What context should the prompt use?',
          requestedSchema: form({ context: { type: 'string' } }),
        }),
      },
    });
  });
}

function says(...contents) {
  return { messages: contents.map((content) => ({ role: 'user', content })) };
}
