import { type Clock, HubError } from '../base/index.ts';
import { createSigner } from './signature.ts';

export interface StateClaims {
  /**
   * 'relay': the upstream server's own requestState is inside; 'parked': the id of a call that
   * waits in this process; 'again': the call is simply sent again.
   */
  readonly kind: 'relay' | 'parked' | 'again';
  /** The upstream state, byte-exact, or the id of the parked call. Empty for 'again'. */
  readonly value: string;
  /** Who got it: only that principal may bring it back. */
  readonly principal: string;
  /** What it belongs to: method and target and arguments, in any one text that the caller makes. */
  readonly subject: string;
}

/**
 * The requestState of an `input_required` result: what the hub has to know when the client comes
 * again, kept by the client. It is signed, not secret, and valid until it expires: whoever must not
 * see it twice remembers what it has seen.
 */
export interface RequestStates {
  /** Throws for an upstream state so long that it could not be opened again. */
  seal(claims: StateClaims): string;
  /** Undefined when it was not sealed here, was changed, is too old, or belongs to somebody or something else. */
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
      // Signed by this key, so it is what seal() made.
      const body = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString()) as Body;
      const [kind, expiresAt, value] = body;
      return deps.clock.now() < expiresAt ? { kind, value } : undefined;
    },
  };
}

/** As JSON, which writes half a surrogate pair as an escape, so that UTF-8 loses nothing. */
type Body = readonly [kind: StateClaims['kind'], expiresAt: number, value: string];

/** The version is signed with the rest: no other version's text can pass for this one's. */
const prefix = 'qm1.';
const maxLength = 1024 * 1024;

/** The client brings both with its retry anyway. */
function boundTo({ principal, subject }: Pick<StateClaims, 'principal' | 'subject'>): readonly string[] {
  return [principal, subject];
}

function tooLong(length: number): HubError {
  return new HubError('UPSTREAM_GARBLED', `The server wants a state of ${length} characters back, which is too long`, {
    hint: 'The server has to keep its state itself and hand out a short name for it.',
  });
}
