import { Pool } from "undici";

export type Post = (path: string, body: string, token?: string) => Promise<string>;
export type Get = (path: string, token?: string) => Promise<string>;

/** The number of requests in flight, unless a measurement specifies another. */
export const DEFAULT_IN_FLIGHT = 64;

/** A relay compiles its code for about this long, and at first uses half as much processor time again. */
export const WARM_UP_SECONDS = 20;

/** The maximum number of requests in flight in any measurement. */
export const MANY_IN_FLIGHT = 256;

/**
 * Sends requests over persistent connections, with `commonHeaders` on each; any answer other than a success
 * aborts the run.
 */
export function createHttpClient(
  url: string,
  commonHeaders: Readonly<Record<string, string>> = {},
): {
  readonly post: Post;
  readonly get: Get;
  readonly close: () => Promise<void>;
} {
  const pool = new Pool(url, { connections: MANY_IN_FLIGHT, pipelining: 1 });
  async function request(
    method: "GET" | "POST",
    path: string,
    token?: string,
    body?: string,
  ): Promise<string> {
    const answer = await pool.request({
      path,
      method,
      ...(body !== undefined && { body }),
      headers: {
        ...commonHeaders,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return text;
  }
  return {
    post: (path, body, token) => request("POST", path, token, body),
    get: (path, token) => request("GET", path, token),
    close: () => pool.close(),
  };
}

/** Calls `work` repeatedly for some time, in parallel, and returns the calls per second. */
export async function measureRate(
  seconds: number,
  work: () => Promise<void>,
  inFlight = DEFAULT_IN_FLIGHT,
): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1_000;
  const done = await runConcurrently(work, inFlight, () => performance.now() < end);
  return (done / (performance.now() - start)) * 1_000;
}

/** Calls `work` a given number of times, in parallel. */
export async function runTimes(
  count: number,
  work: () => Promise<void>,
  inFlight = DEFAULT_IN_FLIGHT,
): Promise<void> {
  let begun = 0;
  await runConcurrently(work, inFlight, () => (begun += 1) <= count);
}

async function runConcurrently(
  work: () => Promise<void>,
  inFlight: number,
  shouldContinue: () => boolean,
): Promise<number> {
  let done = 0;
  const lane = async () => {
    while (shouldContinue()) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return done;
}
