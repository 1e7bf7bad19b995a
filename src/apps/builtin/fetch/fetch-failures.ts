import { EgressRefusal, errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';

/** Explains a failed fetch to the model, in a sentence. */
export function explainFetchFailure(url: URL, error: unknown): unknown {
  if (error instanceof ToolFault) return error;
  if (error instanceof EgressRefusal) {
    const hint = error.about === 'address' ? ' The operator can allow it with --allow.' : '';
    return new ToolFault(`${url.href} is not fetched: ${error.message}.${hint}`, { cause: error });
  }
  const code = codeOf(error);
  // An error without a code is our own bug.
  if (code === undefined) return error;
  return new ToolFault(`${url.href} cannot be fetched: ${reasonOf(code)} (${code}).`, { cause: error });
}

function reasonOf(code: string): string {
  const known = reasons[code];
  if (known !== undefined) return known;
  if (/^(Z_|ERR__|ERR_BROTLI|BROTLI_)/.test(code)) return 'its body does not match its content encoding';
  if (code.startsWith('HPE_')) return 'the server did not answer with HTTP';
  if (/CERT|SSL|TLS|SIGNATURE|ISSUER/.test(code)) return 'the TLS connection failed, so the server is not trusted';
  return 'the connection failed';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the connection was lost before the response was complete',
  EPIPE: 'the connection was lost before the response was complete',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the host name could not be resolved; try again later',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  EPROTO: 'the server does not speak TLS there',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
};

/** Attempts at several addresses fail as one AggregateError. */
function codeOf(error: unknown): string | undefined {
  const inner = error instanceof AggregateError ? errnoOf(error.errors[0]) : undefined;
  return errnoOf(error) ?? inner;
}
