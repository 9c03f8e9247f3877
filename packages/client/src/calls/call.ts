import type { Operation, Result } from "@agent/wire";
import { parseAnswer, readText, type UntypedAnswer } from "./parse-answer.ts";
import {
  buildPath,
  buildUrl,
  findMissingParam,
  type CallRequest,
  type UntypedRequest,
} from "./call-request.ts";
import { createEnvironment } from "../environment.ts";
import { refusal, type CallRefusal } from "./refusal.ts";

export const CALL_TIMEOUT_MS = 30_000;

/** The options of a call of an operation. */
export interface CallOptions {
  /** The relay's address, http or https, with or without a base path. */
  readonly baseUrl: string;
  readonly fetch?: typeof fetch;
  /** Milliseconds since the Unix epoch; used to read a date in `Retry-After`. */
  readonly now?: () => number;
  /** The bearer token: the master token or a signed one. */
  readonly token?: string;
  /** The time limit of the whole exchange in ms; the default is 30,000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** For a call that creates tasks or moves money: a repeated call returns the first response. */
  readonly idempotencyKey?: string;
}

/** A successful answer of the relay. */
export interface CallSuccess<O extends Operation> {
  readonly ok: true;
  readonly status: number;
  readonly body: Result<O>;
}

/** The answer of the relay, or the refusal. */
export type CallResult<O extends Operation> = CallSuccess<O> | CallRefusal;

/**
 * Calls one operation of a relay. Never throws because of the other side: a refusal by the relay is
 * returned with its code and status, a transport failure as `network.unreachable`, `network.timeout` or
 * `network.aborted`, and an undeclared answer as `response.malformed` or `response.too_large`. Redirects
 * are not followed, so that the token is sent only to this address.
 */
export async function call<O extends Operation>(
  op: O,
  request: CallRequest<O>,
  options: CallOptions,
): Promise<CallResult<O>> {
  // The answer was parsed with the schema from which `Result` is inferred.
  return (await sendRequest(op, request as UntypedRequest, options)) as CallResult<O>;
}

async function sendRequest(
  op: Operation,
  request: UntypedRequest,
  options: CallOptions,
): Promise<UntypedAnswer> {
  const path = buildPath(op.path, request);
  if (path === null) {
    const name = findMissingParam(op.path, request) ?? "";
    return refusal("request.invalid", `\`${name}\` is missing or is not a valid path segment`);
  }
  const { baseUrl, signal, timeoutMs = CALL_TIMEOUT_MS } = options;
  const environment = createEnvironment(options);
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  let response: Response;
  let text: string | null;
  try {
    response = await environment.fetch(buildUrl(baseUrl, path), {
      ...buildRequestInit(op, request, options),
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
    });
    text = await readText(response);
  } catch {
    if (signal?.aborted === true) return refusal("network.aborted", "The call was aborted");
    return timeout.signal.aborted
      ? refusal("network.timeout", "The relay did not answer in time")
      : refusal("network.unreachable", "The relay could not be reached");
  } finally {
    clearTimeout(timer);
  }
  return parseAnswer(op, response, { text, now: environment.now() });
}

function buildRequestInit(
  op: Operation,
  { body }: UntypedRequest,
  { token, idempotencyKey }: CallOptions,
): RequestInit {
  return {
    method: op.method,
    redirect: "manual",
    headers: {
      accept: "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
}
