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
   * The subject is asked for only if the state was sealed here for the principal: it may take long to make.
   */
  open(
    text: unknown,
    expected: { readonly principal: string; readonly subject: () => string },
  ): Pick<StateClaims, 'kind' | 'value'> | undefined;
}

export function createRequestStates(
  deps: { readonly clock: Clock; readonly key: Uint8Array },
  options: { readonly lifeMs: number },
): RequestStates {
  const signer = createSigner(deps.key);

  return {
    seal({ kind, value, principal, subject }) {
      const body: Body = [kind, deps.clock.now() + options.lifeMs, value];
      const content = prefix + Buffer.from(JSON.stringify(body)).toString('base64url');
      const own = `${content}.${signer.sign(content, [principal])}`;
      const text = `${own}.${signer.sign(own, [principal, subject])}`;
      if (text.length > maxLength) throw tooLong(value.length);
      return text;
    },
    open(text, { principal, subject }) {
      if (typeof text !== 'string' || text.length > maxLength || !text.startsWith(prefix)) return undefined;
      const [own, signature] = parted(text);
      const [content, ownSignature] = parted(own);
      if (!signer.isSigned(content, ownSignature, [principal])) return undefined;
      // Signed with this key, so seal() made it.
      const body = JSON.parse(Buffer.from(content.slice(prefix.length), 'base64url').toString()) as Body;
      const [kind, expiresAt, value] = body;
      if (deps.clock.now() >= expiresAt) return undefined;
      return signer.isSigned(own, signature, [principal, subject()]) ? { kind, value } : undefined;
    },
  };
}

/** Encoded as JSON, which escapes lone surrogates, so UTF-8 preserves every value. */
type Body = readonly [kind: StateClaims['kind'], expiresAt: number, value: string];

/** The version is signed too, so the text of another version cannot pass for this one. */
const prefix = 'qm2.';
const maxLength = 1024 * 1024;

/** At the last dot. */
function parted(text: string): readonly [before: string, after: string] {
  const at = text.lastIndexOf('.');
  return [text.slice(0, at), text.slice(at + 1)];
}

function tooLong(length: number): HubError {
  return new HubError('UPSTREAM_GARBLED', `The server wants a state of ${length} characters back, which is too long`, {
    hint: 'The server has to keep its state itself and hand out a short name for it.',
  });
}
