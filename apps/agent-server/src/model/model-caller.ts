import { fullJitter, parseRetryAfterMs } from "@agent/client";
import type { Runtime } from "../runtime.ts";

/** The OpenAI-compatible API of a model. */
export interface ModelEndpoint {
  /** Includes the version, without a trailing slash: `https://api.example/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
}

export type ModelCode =
  /** The endpoint did not answer. */
  | "model.unreachable"
  /** The endpoint answered 429 or 503 for longer than the caller waits. */
  | "model.busy"
  /** The endpoint answered another status than 200. */
  | "model.refused"
  /** The answer ended before it was complete. */
  | "model.cut_off"
  /** The answer does not follow the protocol. */
  | "model.malformed"
  | "model.aborted";

/** A failed call. `detail` never contains the endpoint's own text. */
export interface ModelRefusal {
  readonly ok: false;
  readonly code: ModelCode;
  readonly detail: string;
}

export type ModelResult<T> = { readonly ok: true; readonly value: T } | ModelRefusal;

/** Posts `body` and passes a 200 to `read`; temporary failures are retried. */
export type CallModel = <T>(
  path: string,
  body: object,
  read: (response: Response) => Promise<ModelResult<T>>,
  signal: AbortSignal,
) => Promise<ModelResult<T>>;

const MAX_ATTEMPTS = 4;
const BACKOFF = { baseMs: 500, capMs: 8_000 } as const;
/** The longest Retry-After that is honoured; a longer one counts as a failure. */
const MAX_RETRY_AFTER_MS = 60_000;

type ModelFailure = ModelRefusal & {
  readonly retryAfterMs?: number | undefined;
  readonly isRetryable: boolean;
};

export function createModelCaller(
  endpoint: ModelEndpoint,
  runtime: Pick<Runtime, "fetch" | "now" | "randomBytes" | "schedule" | "log">,
): CallModel {
  const headers = {
    "content-type": "application/json",
    ...(endpoint.apiKey !== undefined && { authorization: `Bearer ${endpoint.apiKey}` }),
  };

  return async (path, body, read, signal) => {
    const text = JSON.stringify({ model: endpoint.model, ...body });
    for (let attempt = 1; ; attempt++) {
      const answer = await sendRequest(path, text, read, signal);
      if (answer.ok) return answer;
      const { ok, code, detail, isRetryable, retryAfterMs: requestedMs = 0 } = answer;
      runtime.log("warn", "model.failed", { code, detail, attempt });
      const refusal = { ok, code, detail };
      if (!isRetryable || attempt === MAX_ATTEMPTS || requestedMs > MAX_RETRY_AFTER_MS)
        return refusal;
      await sleep(requestedMs + fullJitter(attempt - 1, BACKOFF, runtime.randomBytes), signal);
      if (signal.aborted) return ABORTED_REFUSAL;
    }
  };

  async function sendRequest<T>(
    path: string,
    body: string,
    read: (response: Response) => Promise<ModelResult<T>>,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly value: T } | ModelFailure> {
    let response: Response;
    try {
      // A redirect could send the key and the prompt to another host.
      const request = { method: "POST", headers, body, signal, redirect: "error" } as const;
      response = await runtime.fetch(`${endpoint.baseUrl}${path}`, request);
    } catch {
      if (signal.aborted) return { ...ABORTED_REFUSAL, isRetryable: false };
      return { ...buildModelRefusal("model.unreachable", "cannot be reached"), isRetryable: true };
    }
    try {
      if (response.status !== 200) return await toFailure(response);
      const answer = await read(response);
      return answer.ok ? answer : { ...answer, isRetryable: answer.code === "model.cut_off" };
    } catch {
      if (signal.aborted) return { ...ABORTED_REFUSAL, isRetryable: false };
      return { ...buildModelRefusal("model.cut_off", "ended its answer early"), isRetryable: true };
    }
  }

  async function toFailure(response: Response): Promise<ModelFailure> {
    await response.body?.cancel();
    const { status, headers: given } = response;
    const busy = status === 429 || status === 503;
    return {
      ...buildModelRefusal(busy ? "model.busy" : "model.refused", `answered with status ${status}`),
      isRetryable: busy || status >= 500,
      retryAfterMs: parseRetryAfterMs(given.get("retry-after"), runtime.now()),
    };
  }

  function sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = runtime.schedule(ms, end);
      signal.addEventListener("abort", end, { once: true });
      function end() {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      }
    });
  }
}

export function buildModelRefusal(code: ModelCode, problem: string): ModelRefusal {
  return { ok: false, code, detail: `The endpoint of the model ${problem}` };
}

const ABORTED_REFUSAL: ModelRefusal = {
  ok: false,
  code: "model.aborted",
  detail: "The call of the model was aborted",
};
