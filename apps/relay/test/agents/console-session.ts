import { OPERATOR_TOKEN, type Reply, type TestRelay } from "../test-relay.ts";

/** Lets a relay in the test's process set cookies, because it has no socket with an address that it could trust. */
export const consoleEnv = { AGENT_BASE_URL: "https://relay.test" };

/** A console session with the values that its page holds. */
export interface OpenConsole {
  readonly sessionId: string;
  readonly token: string;
  /** The value for the cookie header. */
  readonly cookie: string;
}

export function createCode(t: TestRelay, level?: "view"): Promise<Reply> {
  return t.asOperator("POST", "/api/v1/admin/session-codes", { level });
}

export function openSession(
  t: TestRelay,
  body: { readonly code?: unknown },
  token?: string,
): Promise<Reply> {
  return t.request("POST", "/api/v1/console/session", { body, token });
}

/** Opens a session of the given level with a code. */
export async function openConsole(t: TestRelay, level?: "view"): Promise<OpenConsole> {
  const { body: created } = await createCode(t, level);
  return toConsole(await openSession(t, { code: created["code"] }));
}

/** Opens a session with the master token. */
export async function openConsoleByToken(t: TestRelay): Promise<OpenConsole> {
  return toConsole(await openSession(t, {}, OPERATOR_TOKEN));
}

export function toConsole({ status, body, headers }: Reply): OpenConsole {
  if (status !== 201) throw new Error(JSON.stringify(body));
  const [cookie = ""] = (headers.get("set-cookie") ?? "").split(";");
  return { sessionId: body["session_id"] as string, token: body["token"] as string, cookie };
}

/** The headers that only the console's own page can send. */
const pageHeaders = { "sec-fetch-site": "same-origin", "x-agent-console": "1" };

export function renewSession(
  t: TestRelay,
  cookie: string,
  headers: Record<string, string> = pageHeaders,
): Promise<Reply> {
  return t.request("POST", "/api/v1/console/session/renew", { headers: { ...headers, cookie } });
}

export function closeSession(
  t: TestRelay,
  cookie: string,
  headers: Record<string, string> = pageHeaders,
): Promise<Reply> {
  return t.request("DELETE", "/api/v1/console/session", { headers: { ...headers, cookie } });
}
