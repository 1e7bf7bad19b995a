import { type Clock, HubError } from '../base/index.ts';
import { createSigner } from './signature.ts';

export interface StateClaims {
  /**
   * 'relay': contains the upstream server's own requestState. 'awaiting-input': contains the id of a call that waits in
   * this process. 'again': the call is sent again.
   */
  readonly kind: 'relay' | 'awaiting-input' | 'again';
  /** The upstream state, byte-exact, or the id of the call that awaits input. Empty for 'again'. */
  readonly value: string;
  /** The principal that received it. No other principal may return it. */
  readonly principal: string;
  /** The method, target and arguments it belongs to, as a text of the caller's choice. */
  readonly subject: string;
}

/**
 * The requestState of an `input_required` result. The client keeps the state that the hub needs for the retry. It is
 * signed but not encrypted, and valid until it expires: code that must not accept it twice has to track the states it
 * has seen.
 */
export interface RequestStates {
  /** Throws for an upstream state too long to be opened again. */
  seal(claims: StateClaims): string;
  /**
   * Undefined if the text was not sealed here, was changed, has expired, or belongs to another principal or subject.
   */
  open(
    text: unknown,
    expected: Pick<StateClaims, 'principal' | 'subject'>,
  ): Pick<StateClaims, 'kind' | 'value'> | undefined;
}

export function createRequestStates(
  deps: { readonly clock: Clock; readonly key: Uint8Array },
  options: { readonly lifeMs: number },
): RequestStates {
  const signer = createSigner(deps.key);

  return {
    seal(claims) {
      const body: Body = [claims.kind, deps.clock.now() + options.lifeMs, claims.value];
      const content = prefix + Buffer.from(JSON.stringify(body)).toString('base64url');
      const text = `${content}.${signer.sign(content, boundTo(claims))}`;
      if (text.length > maxLength) throw tooLong(claims.value.length);
      return text;
    },
    open(text, expected) {
      if (typeof text !== 'string' || text.length > maxLength || !text.startsWith(prefix)) return undefined;
      const end = text.lastIndexOf('.');
      const content = text.slice(0, end);
      if (!signer.isSigned(content, text.slice(end + 1), boundTo(expected))) return undefined;
      // Signed with this key, so seal() made it.
      const body = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString()) as Body;
      const [kind, expiresAt, value] = body;
      return deps.clock.now() < expiresAt ? { kind, value } : undefined;
    },
  };
}

/** Encoded as JSON, which escapes lone surrogates, so UTF-8 preserves every value. */
type Body = readonly [kind: StateClaims['kind'], expiresAt: number, value: string];

/** The version is signed too, so the text of another version cannot pass for this one. */
const prefix = 'qm1.';
const maxLength = 1024 * 1024;

/** The client sends both with its retry anyway. */
function boundTo({ principal, subject }: Pick<StateClaims, 'principal' | 'subject'>): readonly string[] {
  return [principal, subject];
}

function tooLong(length: number): HubError {
  return new HubError('UPSTREAM_GARBLED', `The server wants a state of ${length} characters back, which is too long`, {
    hint: 'The server has to keep its state itself and hand out a short name for it.',
  });
}
