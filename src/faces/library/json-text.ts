import { HubError } from '../../base/index.ts';

/** The arguments as they are sent; throws for values that JSON cannot represent. */
export function jsonText(args: unknown, name: string): string {
  try {
    return JSON.stringify(args);
  } catch (error) {
    throw new HubError('ARGUMENTS_INVALID', `The arguments of ${name} cannot be written as JSON.`, { cause: error });
  }
}
