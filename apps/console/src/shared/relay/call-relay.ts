import { call, type CallRefusal, type CallRequest, type CallOptions } from "@agent/client";
import type { Operation, Operations, Result } from "@agent/wire";
import { operationAddresses, type PageOperation } from "./operation-addresses.ts";

/** A relay's answer to a page, or the reason why there is none. */
export type PageAnswer<Body> = { readonly ok: true; readonly body: Body } | CallRefusal;

export type BodyOf<Name extends PageOperation> = Result<Operations[Name]>;
export type RequestOf<Name extends PageOperation> = CallRequest<Operations[Name]>;

export interface CallExtras {
  /** Ensures that a repeated action takes effect only once. */
  readonly idempotencyKey?: string;
  /** The reason of an action, which the operator's audit stores. */
  readonly reason?: string;
  readonly signal?: AbortSignal;
}

/** Calls operations with the token that the page holds at the time of the call. */
export interface RelayCaller {
  call<Name extends PageOperation>(
    name: Name,
    request: RequestOf<Name>,
    extras?: CallExtras,
  ): Promise<PageAnswer<BodyOf<Name>>>;
  /** Returns the exact text that the relay sent, for files and for content whose signature covers every byte. */
  callText<Name extends PageOperation>(
    name: Name,
    request: RequestOf<Name>,
  ): Promise<PageAnswer<string>>;
}

/** The relay's own address, which may have a path; a page below it states the relative path to it. */
export const getRelayUrl = () =>
  new URL(document.documentElement.dataset["relay"] ?? ".", document.baseURI).href;

/** Describes an operation without its schemas, because the relay that answers also served the page. */
export function describeOperation(name: PageOperation): Operation {
  const [method, path] = operationAddresses[name].split(" ") as [Operation["method"], string];
  const media = ["application/json", "text/csv"];
  return { method, path, media, summary: name, section: "", auth: "bearer", tier: null, ...NO_ROW };
}

const NO_ROW = { ok: {}, refusals: [] } as const;

/** Calls an operation and returns its answer as text. */
export async function callForText<Name extends PageOperation>(
  name: Name,
  request: RequestOf<Name>,
  options: Omit<CallOptions, "baseUrl">,
): Promise<PageAnswer<string>> {
  const baseUrl = getRelayUrl();
  const answer = await call(describeOperation(name), request as object, { baseUrl, ...options });
  return answer.ok ? { ok: true, body: String(answer.body) } : answer;
}

/** Calls an operation and returns its parsed answer. */
export async function callForBody<Name extends PageOperation>(
  name: Name,
  request: RequestOf<Name>,
  options: Omit<CallOptions, "baseUrl">,
): Promise<PageAnswer<BodyOf<Name>>> {
  const answer = await callForText(name, request, options);
  return answer.ok ? parseBody<BodyOf<Name>>(answer.body) : answer;
}

/** Parses a successful answer; a text that is no JSON, such as a proxy's empty one, must not end the page's call. */
export function parseBody<Body>(text: string): PageAnswer<Body> {
  try {
    return { ok: true, body: JSON.parse(text) as Body };
  } catch {
    return { ok: false, code: "response.malformed", status: 200, message: "Answer is not JSON" };
  }
}

/** Creates a caller; if `getToken` returns no token, nothing is sent. */
export function createRelayCaller(
  getToken: () => Promise<{ readonly ok: true; readonly token: string } | CallRefusal>,
): RelayCaller {
  return {
    async call(name, request, { reason, ...extras } = {}) {
      const bearer = await getToken();
      if (!bearer.ok) return bearer;
      const stated = reason === undefined ? {} : { fetch: fetchWith({ [REASON_HEADER]: reason }) };
      return callForBody(name, request, { token: bearer.token, ...extras, ...stated });
    },
    async callText(name, request) {
      const bearer = await getToken();
      return bearer.ok ? callForText(name, request, { token: bearer.token }) : bearer;
    },
  };
}

/** Headers are ASCII, so the reason is sent percent-encoded and the relay decodes it. */
const REASON_HEADER = "x-agent-reason";

/** Returns a `fetch` that adds headers, percent-encoded. */
export function fetchWith(
  headers: Readonly<Record<string, string>>,
  callRelay = globalThis.fetch,
): typeof fetch {
  return (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, encodeURIComponent(value));
    return callRelay(input, { ...init, headers: all });
  };
}
