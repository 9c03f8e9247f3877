import { sign, toBase64Url, utf8ToBytes } from "@agent/crypto";
import { getOperatorLevel, limits, type Operation } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  closeSession,
  consoleEnv,
  createCode,
  openConsole,
  openConsoleByToken,
  openSession,
  renewSession,
  toConsole,
} from "../../test/agents/console-session.ts";
import { federated } from "../../test/contract/operator/federation.ts";
import { buildPath, samples } from "../../test/contract/samples.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { operations, type OperationName } from "../operations.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay({ ...federated, ...consoleEnv });
});
afterEach(() => t.close());

const names = Object.keys(operations) as OperationName[];
const overview = (token: string) => t.request("GET", "/api/v1/admin/overview", { token });
const freeze = (token: string) =>
  t.request("POST", "/api/v1/admin/freeze", { token, body: { reason: "an audit" } });

/** Opens the stream of the relay's events, and returns a function that reads it to its end. */
async function openEvents(token: string): Promise<() => Promise<string>> {
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const request = new Request("http://relay.test/api/v1/admin/events", { headers });
  const { status, body } = await t.relay.fetch(request);
  expect(status).toBe(200);
  const text = new Response(body).text();
  return () => text;
}

describe("all operations", () => {
  /** Calls every operation, and lists those that were refused with a code. */
  async function listRefused(code: string, token?: string): Promise<string[]> {
    const refused: string[] = [];
    for (const name of names) {
      const { body } = samples[name];
      const content = typeof body === "string" ? { raw: body } : { body };
      const reply = await t.request(operations[name].method, buildPath(name), {
        ...content,
        token,
      });
      if (reply.body["code"] === code) refused.push(name);
    }
    return refused;
  }
  const listBy = (rule: (row: Operation) => boolean) =>
    names.filter((name) => rule(operations[name]));
  const readsToken = (row: Operation) => needsToken(row) || row.readsCaller === true;
  const needsToken = ({ auth }: Operation) => auth === "bearer" || auth === "master";

  test("OP1: a view session may call exactly the operations that only read", async () => {
    const { token } = await openConsole(t, "view");
    const expected = listBy((row) => readsToken(row) && getOperatorLevel(row) !== "view");
    expect(await listRefused("session.level", token)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(40);
  });

  test("OP1: an operate session is refused exactly the operations that no session may call", async () => {
    const { token } = await openConsole(t);
    const expected = listBy((row) => readsToken(row) && getOperatorLevel(row) === "never");
    expect(await listRefused("session.level", token)).toEqual(expected);
    expect(expected).toEqual(
      expect.arrayContaining(["rotateKey", "voteOnApproval", "postResult", "submitTask"]),
    );
  });

  test("OP1: an agent's token may not call an operation of the operator", async () => {
    const token = await t.token(await t.createAgent());
    const expected = listBy(({ auth }) => auth === "master");
    expect(await listRefused("auth.master_only", token)).toEqual(expected);
  });

  test("OP1: only public operations may be called without a token", async () => {
    expect(await listRefused("auth.missing")).toEqual(listBy(needsToken));
  });
});

describe("a code", () => {
  test("OP2: a code opens only one session, and another code opens another one", async () => {
    const { body } = await createCode(t);
    const { code } = body;
    const replies = await Promise.all([openSession(t, { code }), openSession(t, { code })]);
    expect(replies.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 403,
    ]);
    expect(await openSession(t, { code })).toMatchObject({
      status: 403,
      body: { code: "session.code_invalid" },
    });
    expect(await createCode(t)).toMatchObject({ status: 201 });
  });

  test("OP2: a code ends after five minutes", async () => {
    const { body } = await createCode(t);
    await t.clock.advance(limits.sessionCodeMs);
    expect(await openSession(t, { code: body["code"] })).toMatchObject({ status: 403 });
  });

  test("OP2: neither a code nor a cookie is ever found in the database, a later answer or a log", async () => {
    const { body } = await createCode(t);
    const code = body["code"] as string;
    const { cookie, token } = toConsole(await openSession(t, { code }));
    const secret = cookie.split("=")[1] ?? "";
    expect(secret).toMatch(/^[\w-]{43}$/);
    const shown = await Promise.all(
      ["audit", "events", "console-sessions"].map(
        async (list) => (await t.asOperator("GET", `/api/v1/admin/${list}`)).text,
      ),
    );
    for (const text of [...shown, ...t.lines]) {
      for (const known of [code, secret, token]) expect(text).not.toContain(known);
    }
  });

  test("OP2: the cookie is strict, secure and hidden from scripts", async () => {
    const { body } = await createCode(t);
    const { headers } = await openSession(t, { code: body["code"] });
    expect(headers.get("set-cookie")).toMatch(
      /^__Host-agent-console=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=28800$/,
    );
  });

  test("the console needs https, unless it is opened on the relay's own machine", async () => {
    const plain = await startTestRelay();
    const { body } = await createCode(plain);
    const refused = await openSession(plain, { code: body["code"] });
    expect(refused).toMatchObject({ status: 403, body: { code: "session.https_required" } });
    // A browser that uses https through a proxy must be told what is missing.
    expect(refused.body["message"]).toContain("AGENT_BASE_URL");
    await plain.close();
  });
});

describe("a session", () => {
  test("OP3: the cookie alone opens no operation", async () => {
    const { cookie } = await openConsole(t);
    const reply = await t.request("GET", "/api/v1/admin/overview", { headers: { cookie } });
    expect(reply).toMatchObject({ status: 401, body: { code: "auth.missing" } });
  });

  test.each([
    { "sec-fetch-site": "cross-site", "x-agent-console": "1" },
    { "sec-fetch-site": "same-site", "x-agent-console": "1" },
    { "sec-fetch-site": "same-origin" },
    { "x-agent-console": "1" },
  ])("OP3: a request from another page neither renews nor ends a session: %j", async (headers) => {
    const { cookie, token } = await openConsole(t);
    for (const reply of [
      await renewSession(t, cookie, headers as Record<string, string>),
      await closeSession(t, cookie, headers as Record<string, string>),
    ]) {
      expect(reply).toMatchObject({ status: 403, body: { code: "session.cross_site" } });
    }
    expect(await overview(token)).toMatchObject({ status: 200 });
  });

  test("OP4: a session's bearer is invalid as soon as the session was closed or revoked", async () => {
    const [closed, revoked] = [await openConsole(t), await openConsole(t)];
    expect(await closeSession(t, closed.cookie)).toMatchObject({ status: 200 });
    await t.asOperator("DELETE", `/api/v1/admin/console-sessions/${revoked.sessionId}`);
    for (const { token, cookie } of [closed, revoked]) {
      expect(await overview(token)).toMatchObject({
        status: 401,
        body: { code: "auth.token_revoked" },
      });
      expect(await renewSession(t, cookie)).toMatchObject({ body: { code: "session.ended" } });
    }
  });

  test("OP4: a stream of events ends with its session", async () => {
    const { token, sessionId } = await openConsole(t);
    const read = await openEvents(token);
    await t.asOperator("DELETE", `/api/v1/admin/console-sessions/${sessionId}`);
    await t.clock.advance(limits.relayEventPollMs);
    expect(await read()).toContain("event: session.opened");
  });

  test("OP4: a stream of events ends when newer sessions displace its session", async () => {
    const displaced = await openConsole(t);
    await t.clock.advance(1_000);
    const kept = await openConsole(t);
    await t.clock.advance(1_000);
    const [readDisplaced, readKept] = [
      await openEvents(displaced.token),
      await openEvents(kept.token),
    ];
    for (let count = 2; count <= limits.sessions; count += 1) await openConsole(t, "view");
    await t.createAgent();
    await t.clock.advance(limits.relayEventPollMs);
    expect(await readDisplaced()).not.toContain("event: key.bound");
    await t.asOperator("DELETE", `/api/v1/admin/console-sessions/${kept.sessionId}`);
    await t.clock.advance(limits.relayEventPollMs);
    const shown = await readKept();
    expect(shown).toContain("event: key.bound");
    expect(shown).toMatch(new RegExp(`event: session.ended\\n.*${displaced.sessionId}`));
  });

  test("OP4: a bearer lasts five minutes, and the next one is issued for the cookie", async () => {
    const { token, cookie } = await openConsole(t, "view");
    await t.clock.advance(limits.tokenLifetimeMs);
    expect(await overview(token)).toMatchObject({ body: { code: "auth.expired_token" } });
    const { body } = await renewSession(t, cookie);
    expect(await overview(body["token"] as string)).toMatchObject({ status: 200 });
  });

  test("OP4: a session ends after an hour without use, or eight hours after it was opened", async () => {
    const [idle, busy] = [await openConsole(t, "view"), await openConsole(t, "view")];
    for (let spent = 0; spent < limits.sessionMs; spent += limits.sessionIdleMs / 2) {
      await t.clock.advance(limits.sessionIdleMs / 2);
      const isOver = spent + limits.sessionIdleMs / 2 >= limits.sessionMs;
      expect((await renewSession(t, busy.cookie)).status).toBe(isOver ? 401 : 200);
    }
    expect(await renewSession(t, idle.cookie)).toMatchObject({ body: { code: "session.ended" } });
  });

  test("OP5: a session may act for ten minutes after its code, and only read from then on", async () => {
    const { token, cookie } = await openConsole(t);
    expect(await freeze(token)).toMatchObject({ status: 200 });
    await t.clock.advance(limits.sessionOperateMs - 60_000);
    const late = (await renewSession(t, cookie)).body;
    expect(late).toMatchObject({ level: "operate" });
    expect(late["expires_at"]).toBeLessThanOrEqual(late["operate_until"] as number);
    await t.clock.advance(60_000);
    const { body } = await renewSession(t, cookie);
    expect(body).toMatchObject({ level: "view" });
    expect(await freeze(body["token"] as string)).toMatchObject({
      body: { code: "session.level" },
    });
    expect(await overview(body["token"] as string)).toMatchObject({ status: 200 });
  });

  test("OP5: a code of the level view never leads to a session that may act", async () => {
    const { token, cookie } = await openConsole(t, "view");
    const renewed = (await renewSession(t, cookie)).body["token"] as string;
    for (const each of [token, renewed]) {
      expect(await freeze(each)).toMatchObject({ body: { code: "session.level" } });
      const path = "/api/v1/admin/session-codes";
      expect(await t.request("POST", path, { token: each, body: {} })).toMatchObject({
        body: { code: "session.level" },
      });
      expect(await openSession(t, {}, each)).toMatchObject({
        body: { code: "session.code_invalid" },
      });
    }
    expect((await t.asOperator("GET", "/api/v1/admin/freeze")).body).toMatchObject({
      frozen: false,
    });
  });

  test("OP6: a session ends with the master token from which its code was issued", async () => {
    const { token, cookie } = await openConsoleByToken(t);
    const { body } = await createCode(t);
    t.relay.operatorTokens.replace(["another-master-token-0123456789"]);
    expect(await overview(token)).toMatchObject({ body: { code: "auth.token_revoked" } });
    expect(await renewSession(t, cookie)).toMatchObject({ body: { code: "session.ended" } });
    expect(await openSession(t, { code: body["code"] })).toMatchObject({
      body: { code: "session.code_invalid" },
    });
    t.relay.operatorTokens.replace([OPERATOR_TOKEN]);
    expect(await overview(token)).toMatchObject({ status: 200 });
  });

  test("D11: a stream of events ends with the master token from which the code of its session was issued", async () => {
    const kept = "another-master-token-0123456789";
    t.relay.operatorTokens.replace([OPERATOR_TOKEN, kept]);
    const ofRemoved = await openConsoleByToken(t);
    const ofKept = toConsole(await openSession(t, {}, kept));
    const [ofRemovedEvents, ofKeptEvents] = [
      await openEvents(ofRemoved.token),
      await openEvents(ofKept.token),
    ];
    t.relay.operatorTokens.replace([kept]);
    await t.createAgent();
    await t.clock.advance(limits.relayEventPollMs);
    expect(await ofRemovedEvents()).not.toContain("event: key.bound");
    const path = `/api/v1/admin/console-sessions/${ofKept.sessionId}`;
    await t.request("DELETE", path, { token: kept });
    await t.clock.advance(limits.relayEventPollMs);
    expect(await ofKeptEvents()).toContain("event: key.bound");
  });

  test("OP7: a bearer that the relay did not sign is refused", async () => {
    const { token } = await openConsole(t);
    const agent = await t.createAgent();
    const [header = "", claims = "", signature = ""] = token.split(".");
    const forged = toBase64Url(sign(utf8ToBytes(`${header}.${claims}`), agent.secretKey));
    const raised = Buffer.from(claims, "base64url").toString().replace("session", "sessions");
    for (const bearer of [
      `${header}.${claims}.${forged}`,
      `${header}.${toBase64Url(utf8ToBytes(`${raised} `))}.${signature}`,
      `${header}.${claims}`,
      `${header}.${claims}.`,
      `${header}.${claims}.${signature}.x`,
    ]) {
      const { status, body } = await overview(bearer);
      expect([401, 403]).toContain(status);
      expect(body["code"]).toMatch(/^auth\./);
    }
    const asAgent = await t.token(agent);
    const swapped = `${header}.${asAgent.split(".").slice(1).join(".")}`;
    expect((await overview(swapped)).body["code"]).toBe("auth.verification_failed");
  });

  test("a session opens while the relay is frozen, and can end the freeze", async () => {
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    const { token } = await openConsole(t);
    const path = "/api/v1/admin/unfreeze";
    expect(await t.request("POST", path, { token })).toMatchObject({ status: 200 });
  });
});
