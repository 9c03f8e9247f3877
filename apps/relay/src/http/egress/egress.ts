import type { LookupFunction } from "node:net";
import { boundedBody } from "@agent/client";
import { limits } from "@agent/wire";
import { Agent, fetch as undiciFetch, type RequestInit as UndiciRequestInit } from "undici";
import type { Runtime } from "../../runtime.ts";
import { createTraceHeaders } from "../../observability/trace.ts";
import { classifyAddress, ipLiteral, isLocalhost, isPublicHost } from "./endpoint-address.ts";
import { createNameResolver, type ResolveName } from "./resolve-name.ts";

export type EgressCode =
  | "egress.url_invalid"
  | "egress.scheme_refused"
  | "egress.credentials_refused"
  | "egress.address_refused"
  | "egress.redirect_refused"
  | "egress.response_too_large"
  | "egress.timeout"
  /** No connection was made, so nothing was sent. */
  | "egress.unreachable"
  /** The connection failed after the request may have been sent. */
  | "egress.failed";

/** The error that `fetch` throws unless the caller's own signal ended the call. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  readonly code: EgressCode;

  constructor(code: EgressCode, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
  }
}

export type EgressFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type UrlCheckResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: EgressCode; readonly detail: string };

export interface Egress {
  /** Replaces `fetch` for addresses that other parties chose. */
  readonly fetch: EgressFetch;
  /** Returns `fetch` with another limit on the whole exchange, including the body. */
  withTimeout(totalTimeoutMs: number): EgressFetch;
  /** Checks a URL without resolving its name; the resolved address is checked at connect. */
  checkUrl(url: string): UrlCheckResult;
  close(): Promise<void>;
}

export interface EgressOptions {
  /** `auto` blocks private addresses if `baseUrl` is public. */
  readonly privateEndpoints: "allow" | "block" | "auto";
  readonly baseUrl: string | undefined;
  readonly schedule: Runtime["schedule"];
  readonly randomBytes: Runtime["randomBytes"];
  readonly resolve?: ResolveName;
  readonly connectTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly maxResponseBytes?: number;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

const ADDRESS_REFUSED = "leads to an address that is not allowed";

/** Sends all requests to endpoints, peers and webhooks (docs/decisions.md, 8). */
export function createEgress(options: EgressOptions): Egress {
  const { schedule, randomBytes } = options;
  const names = createNameResolver({ schedule });
  const { resolve = names.resolve } = options;
  const { connectTimeoutMs = 5_000, totalTimeoutMs = 30_000 } = options;
  const { maxResponseBytes = limits.outboundBytes } = options;
  const policy = createAddressPolicy(options);

  const agent = new Agent({
    allowH2: false,
    connections: 128,
    connect: { lookup: filteredLookup(resolve, policy), timeout: connectTimeoutMs },
    keepAliveMaxTimeout: 60_000,
    // The total timeout covers both; the defaults of undici would end a long tool call.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function withTimeout(timeoutMs: number): EgressFetch {
    return async (url, init = {}) => {
      const verdict = policy.checkUrl(String(url));
      if (!verdict.ok) throw new EgressError(verdict.code, verdict.detail);

      const abort = new AbortController();
      const cancelTimer = schedule(timeoutMs, () => {
        abort.abort(new EgressError("egress.timeout", `no complete answer within ${timeoutMs} ms`));
      });
      const signal = init.signal ? AbortSignal.any([init.signal, abort.signal]) : abort.signal;
      const failed = (error: unknown) => (signal.aborted ? signal.reason : toEgressError(error));
      const tooLong = () => new EgressError("egress.response_too_large", "answers too much");
      try {
        const answer = await undiciFetch(url, {
          ...({ method: init.method, body: init.body } as UndiciRequestInit),
          headers: [
            ...new Headers(init.headers),
            ...Object.entries(createTraceHeaders(randomBytes)),
          ],
          signal,
          redirect: "manual",
          dispatcher: agent,
        });
        if (redirectStatuses.has(answer.status)) {
          throw new EgressError("egress.redirect_refused", "answers with a redirect");
        }
        if (Number(answer.headers.get("content-length")) > maxResponseBytes) throw tooLong();
        if (answer.body === null) cancelTimer();
        const body =
          answer.body &&
          boundedBody(answer.body as ReadableStream<Uint8Array<ArrayBuffer>>, {
            maxBytes: maxResponseBytes,
            tooLong,
            failed,
            ended: cancelTimer,
          });
        return new Response(body, {
          status: answer.status,
          statusText: answer.statusText,
          headers: [...answer.headers],
        });
      } catch (error) {
        cancelTimer();
        const reason: unknown = failed(error);
        abort.abort(reason);
        throw reason;
      }
    };
  }

  return {
    fetch: withTimeout(totalTimeoutMs),
    withTimeout,
    checkUrl: policy.checkUrl,
    close() {
      names.close();
      return agent.destroy();
    },
  };
}

interface AddressPolicy {
  readonly mayConnect: (address: string) => boolean;
  readonly checkUrl: Egress["checkUrl"];
}

/** Decides by address, and by the URL before its name is resolved, which connections are allowed. */
function createAddressPolicy({
  privateEndpoints,
  baseUrl,
}: Pick<EgressOptions, "privateEndpoints" | "baseUrl">): AddressPolicy {
  const isPublic = baseUrl !== undefined && isPublicHost(new URL(baseUrl).hostname);
  const blocksPrivate = privateEndpoints === "block" || (privateEndpoints === "auto" && isPublic);

  function mayConnect(address: string): boolean {
    const found = classifyAddress(address);
    return found === "public" || (found === "private" && !blocksPrivate);
  }

  function checkUrl(text: string): UrlCheckResult {
    const url = URL.parse(text);
    if (url === null) return refuseUrl("egress.url_invalid", "is not a URL");
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      return refuseUrl("egress.scheme_refused", "must be http or https");
    }
    if (url.username !== "" || url.password !== "") {
      return refuseUrl("egress.credentials_refused", "must not carry a user name or password");
    }
    // An address literal never reaches the lookup filter.
    const literal = ipLiteral(url.hostname);
    const isAllowed =
      literal === undefined ? !(blocksPrivate && isLocalhost(url.hostname)) : mayConnect(literal);
    return isAllowed ? { ok: true } : refuseUrl("egress.address_refused", ADDRESS_REFUSED);
  }

  return { mayConnect, checkUrl };
}

/**
 * Connects only to addresses that pass the filter. The name is resolved once, because a second answer
 * could differ.
 */
function filteredLookup(
  resolve: ResolveName,
  { mayConnect }: Pick<AddressPolicy, "mayConnect">,
): LookupFunction {
  return (name, lookupOptions, done) => {
    resolve(name, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const allowed = addresses.filter(({ address }) => mayConnect(address));
      const [first] = allowed;
      if (first === undefined) {
        return done(new EgressError("egress.address_refused", ADDRESS_REFUSED), []);
      }
      return lookupOptions.all ? done(null, allowed) : done(null, first.address, first.family);
    });
  };
}

const refuseUrl = (code: EgressCode, detail: string): UrlCheckResult => ({
  ok: false,
  code,
  detail,
});

/** Finds the first known cause, because fetch wraps errors once or twice. */
function toEgressError(error: unknown): EgressError {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof EgressError) return at;
    if (isConnectError(at)) {
      return new EgressError("egress.unreachable", "cannot be reached", { cause: error });
    }
  }
  return new EgressError("egress.failed", "broke off or did not answer in HTTP", { cause: error });
}

function isConnectError(error: Error): boolean {
  // Each address that was tried has its own error.
  if (error instanceof AggregateError) return true;
  // Questions to DNS servers are called `queryA` and `queryAaaa`.
  if ("syscall" in error) return /^(connect|query\w+)$/.test(String(error.syscall));
  return "code" in error && error.code === "UND_ERR_CONNECT_TIMEOUT";
}
