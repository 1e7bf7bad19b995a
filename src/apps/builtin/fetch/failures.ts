import { EgressRefusal, errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';

/** What went wrong on the way to a page, as a sentence for the model. */
export function explainFailure(url: URL, error: unknown): unknown {
  if (error instanceof ToolFault) return error;
  if (error instanceof EgressRefusal) {
    const hint = error.about === 'address' ? ' The operator can let it through with --allow.' : '';
    return new ToolFault(`${url.href} is not fetched: ${error.message}.${hint}`, { cause: error });
  }
  const code = codeOf(error);
  // Anything without a code is a defect of ours.
  if (code === undefined) return error;
  return new ToolFault(`${url.href} cannot be fetched: ${reasonOf(code)} (${code}).`, { cause: error });
}

function reasonOf(code: string): string {
  const known = reasons[code];
  if (known !== undefined) return known;
  if (/^(Z_|ERR__|ERR_BROTLI|BROTLI_)/.test(code)) return 'its body is not in the content encoding that it names';
  if (code.startsWith('HPE_')) return 'the server does not answer in HTTP';
  if (/CERT|SSL|TLS|SIGNATURE|ISSUER/.test(code)) return 'the server cannot be trusted, for TLS failed';
  return 'the connection failed';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the server refuses connections',
  ECONNRESET: 'the connection broke before the answer was complete',
  EPIPE: 'the connection broke before the answer was complete',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name of the host could not be resolved; it may work later',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the server takes no connection in time',
  EPROTO: 'the server does not speak TLS there',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
};

/** Attempts at several addresses fail as one error that holds the others. */
function codeOf(error: unknown): string | undefined {
  const inner = error instanceof AggregateError ? errnoOf(error.errors[0]) : undefined;
  return errnoOf(error) ?? inner;
}
