import {
  operations,
  type Operation,
  type OperationName,
  type Operations,
  type Scope,
} from "@agent/wire";
import { call, type CallResult } from "./calls/call.ts";
import type { CallRequest, UntypedRequest } from "./calls/call-request.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import { refusal, type CallRefusal } from "./calls/refusal.ts";
import { createRelayAudience } from "./tokens/relay-audience.ts";
import { createTokenSource, type Credentials } from "./tokens/token-source.ts";

/** The relay of a client, and the caller that the client acts for. */
export interface RelayClientOptions extends Partial<Environment> {
  /** The relay's address, http or https, with or without a base path. */
  readonly baseUrl: string;
  /** Required for all operations that are not public. */
  readonly identity?: Credentials;
  /** The relay's did:key if it is known in advance; by default it is read from the relay. */
  readonly relayDid?: string;
  /** The time limit of one exchange in ms; the default is 30,000. */
  readonly timeoutMs?: number;
}

/** The options of one call of a client. */
export interface PerCallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** For a call that creates tasks or moves money: a repeated call returns the first response. */
  readonly idempotencyKey?: string;
}

type Method<O extends Operation> =
  Record<never, never> extends CallRequest<O>
    ? (request?: CallRequest<O>, perCall?: PerCallOptions) => Promise<CallResult<O>>
    : (request: CallRequest<O>, perCall?: PerCallOptions) => Promise<CallResult<O>>;

/** A bearer token, or the refusal that prevented one. */
export type Bearer =
  /** `audience` is the DID that a signed token is addressed to; absent for the master token. */
  { readonly ok: true; readonly token: string; readonly audience?: string } | CallRefusal;

/** A client with one method per operation of the contract, named like the operation. */
export type RelayClient = { readonly [Name in OperationName]: Method<Operations[Name]> } & {
  /** Returns a token for endpoints that are not operations, such as the WebSocket. */
  getBearer(scope: Scope | undefined): Promise<Bearer>;
};

/**
 * Creates a client of one relay, which mints, caches and renews the tokens of its calls. Its methods are
 * refused like `call`, and with `auth.missing` without an identity.
 */
export function createRelayClient(options: RelayClientOptions): RelayClient {
  const environment = createEnvironment(options);
  const { baseUrl, identity, relayDid, timeoutMs } = options;
  const base = {
    baseUrl,
    fetch: environment.fetch,
    now: environment.now,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  const relay = createRelayAudience(relayDid, () => call(operations.relayInfo, {}, base));
  const getBearer = createBearerSource(identity);

  function createBearerSource(
    credentials: Credentials | undefined,
  ): (scope: Scope | undefined, once?: boolean) => Promise<Bearer> {
    if (credentials === undefined) {
      return () => Promise.resolve(refusal("auth.missing", "The client has no identity"));
    }
    if ("masterToken" in credentials) {
      return () => Promise.resolve({ ok: true, token: credentials.masterToken });
    }
    const getToken = createTokenSource(credentials, environment);
    return async (scope, once) => {
      const resolvedDid = await relay.did();
      if (!resolvedDid.ok) return resolvedDid;
      return {
        ok: true,
        token: await getToken(resolvedDid.did, scope, once),
        audience: resolvedDid.did,
      };
    };
  }

  async function invoke(
    op: Operation,
    request: UntypedRequest = {},
    perCall: PerCallOptions = {},
  ): Promise<CallResult<Operation>> {
    if (op.auth === "public") return call(op, request, { ...base, ...perCall });
    const bearer = await getBearer(op.scope, op.singleUse);
    if (!bearer.ok) return bearer;
    const answer = await call(op, request, { ...base, ...perCall, token: bearer.token });
    if (answer.ok || answer.code !== "auth.verification_failed") return answer;
    if (bearer.audience === undefined || !(await relay.differsFrom(bearer.audience))) return answer;
    const renewed = await getBearer(op.scope, op.singleUse);
    return renewed.ok ? call(op, request, { ...base, ...perCall, token: renewed.token }) : renewed;
  }

  const methods = Object.entries<Operation>(operations).map(([name, op]) => [
    name,
    (request?: UntypedRequest, perCall?: PerCallOptions) => invoke(op, request, perCall),
  ]);
  // Each method has the type of the operation of the same name.
  return { ...Object.fromEntries(methods), getBearer: (scope) => getBearer(scope) } as RelayClient;
}
