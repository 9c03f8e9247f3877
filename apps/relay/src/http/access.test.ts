import { createHmac } from "node:crypto";
import { sign, toBase64Url, utf8ToBytes } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { scopes, type Operation } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { federated } from "../../test/contract/operator/federation.ts";
import { buildPath, samples, UNKNOWN_ID } from "../../test/contract/samples.ts";
import {
  OPERATOR_TOKEN,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";
import { operations, type OperationName } from "../operations.ts";

let t: TestRelay;
let agent: TestAgent;
let other: TestAgent;
beforeAll(async () => {
  t = await startTestRelay(federated);
  [agent, other] = [await t.createAgent(), await t.createAgent()];
});
afterAll(() => t.close());

const balanceOf = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/balance`;
const withHeader = (authorization: string): Promise<Reply> =>
  t.request("GET", balanceOf(agent), { headers: { authorization } });
const withToken = (token: string) => withHeader(`Bearer ${token}`);

const base64 = (value: unknown) => toBase64Url(utf8ToBytes(JSON.stringify(value)));
const deviceHeader = () => ({ alg: "EdDSA", typ: "agent-token+jwt", kid: agent.deviceId });

/** A token with the claims that a test needs and a true signature; by default it is valid. */
function signed({
  header = {},
  claims = {},
  by = agent,
}: {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  by?: Pick<TestAgent, "secretKey">;
} = {}): string {
  const good = {
    iss: agent.agentId,
    sub: agent.agentId,
    aud: t.did,
    scope: scopes.join(" "),
    iat: inSeconds(0),
    exp: inSeconds(300),
    jti: "1",
  };
  const text = `${base64({ ...deviceHeader(), ...header })}.${base64({ ...good, ...claims })}`;
  return `${text}.${toBase64Url(sign(utf8ToBytes(text), by.secretKey))}`;
}

const inSeconds = (seconds: number) => t.clock.now() / 1_000 + seconds;

describe("AC1 a bearer", () => {
  test.each(["EdDSA", "Ed25519"])(
    "the relay accepts the agent's own token with alg %s",
    async (alg) => {
      expect(await withToken(signed({ header: { alg } }))).toMatchObject({ status: 200 });
    },
  );

  const refused: Readonly<Record<string, () => Promise<Reply>>> = {
    "401 auth.missing: none": () => t.request("GET", balanceOf(agent)),
    "403 auth.unknown_token: opaque junk": () => withToken("junk"),
    "403 auth.unknown_token: four parts": () => withToken("a.b.c.d"),
    "401 auth.malformed_token: three parts that are no token": () => withToken("a.b.c"),
    "401 auth.malformed_token: a token cut short": () => withToken(signed().slice(0, -1)),
    "401 auth.expired_token: over since a second ago": () =>
      withToken(signed({ claims: { iat: inSeconds(-60), exp: inSeconds(-1) } })),
    "401 auth.expired_token: over now": () =>
      withToken(signed({ claims: { iat: inSeconds(-60), exp: inSeconds(0) } })),
    "401 auth.malformed_token: issued more than 5 minutes ahead": () =>
      withToken(signed({ claims: { iat: inSeconds(301), exp: inSeconds(400) } })),
    "401 auth.malformed_token: a life of more than 300 seconds": () =>
      withToken(signed({ claims: { exp: inSeconds(301) } })),
    "401 auth.verification_failed: for another relay": () =>
      withToken(signed({ claims: { aud: other.did } })),
    "403 auth.device_not_authorized: of a device that nobody knows": () =>
      withToken(signed({ header: { kid: t.createUnknownAgent().deviceId } })),
    "403 auth.device_not_authorized: of another agent's device": () =>
      withToken(signed({ header: { kid: other.deviceId } })),
    "403 auth.device_not_authorized: naming another agent than the device's": () =>
      withToken(signed({ claims: { iss: other.agentId, sub: other.agentId } })),
    "403 auth.scope_missing: without the scope of the operation": () =>
      withToken(signed({ claims: { scope: "task:read agent:write" } })),
    "403 auth.scope_missing: with scopes that only resemble it": () =>
      withToken(signed({ claims: { scope: "account:reader account ACCOUNT:READ" } })),
  };

  test.each(Object.entries(refused))("a bearer is refused with %s", async (title, ask) => {
    const [status, code] = title.split(/:? /);
    expect(await ask()).toMatchObject({ status: Number(status), body: { code } });
  });

  test.each([
    ["issued 5 minutes ahead", 300, 600],
    ["that expires in a second", -299, 1],
  ])("the relay accepts a token %s", async (_, iat, exp) => {
    const claims = { iat: inSeconds(iat), exp: inSeconds(exp) };
    expect(await withToken(signed({ claims }))).toMatchObject({ status: 200 });
  });
});

describe("AC2 the operator's token", () => {
  test("the relay accepts the operator's token", async () => {
    expect(await withToken(OPERATOR_TOKEN)).toMatchObject({ status: 200 });
  });

  test.each([
    ["two spaces", `Bearer  ${OPERATOR_TOKEN}`],
    ["a tab", `Bearer\t${OPERATOR_TOKEN}`],
    ["no scheme", OPERATOR_TOKEN],
    ["no token", "Bearer"],
    ["an empty token", "Bearer "],
    ["one character more", `Bearer ${OPERATOR_TOKEN}x`],
    ["one character less", `Bearer ${OPERATOR_TOKEN.slice(0, -1)}`],
    ["another case of the token", `Bearer ${OPERATOR_TOKEN.toUpperCase()}`],
    ["a word behind it", `Bearer ${OPERATOR_TOKEN} x`],
    ["the header twice", `Bearer ${OPERATOR_TOKEN}, Bearer ${OPERATOR_TOKEN}`],
    ["a comma behind it", `Bearer ${OPERATOR_TOKEN},`],
    ["quotes", `Bearer "${OPERATOR_TOKEN}"`],
    ["an agent's prefix", `Bearer agent:${OPERATOR_TOKEN}`],
  ])("the relay refuses the operator's token with %s", async (_, header) => {
    expect(await withHeader(header)).toMatchObject({ status: 403 });
  });

  test.each(["bearer", "BEARER", "bEARER"])(
    "G7: the relay accepts the scheme in any case: %s",
    async (scheme) => {
      expect(await withHeader(`${scheme} ${OPERATOR_TOKEN}`)).toMatchObject({ status: 200 });
      expect(await withHeader(`${scheme} ${signed()}`)).toMatchObject({ status: 200 });
      expect(await withHeader(`${scheme} junk`)).toMatchObject({ status: 403 });
    },
  );

  test("an empty Authorization header is answered with 401 and a challenge, like a missing one", async () => {
    const { status, body, headers } = await withHeader("");
    expect([status, body["code"], headers.get("www-authenticate")]).toEqual([
      401,
      "auth.missing",
      "Bearer",
    ]);
  });

  test.each(["Basic", "Digest", "bearers"])(
    "G7: credentials of the scheme %s are answered with 401 and a challenge",
    async (scheme) => {
      const { status, body, headers } = await withHeader(`${scheme} ${btoa(OPERATOR_TOKEN)}`);
      expect([status, body["code"], headers.get("www-authenticate")]).toEqual([
        401,
        "auth.missing",
        "Bearer",
      ]);
    },
  );

  test("the relay accepts an operator's token of any visible characters except the comma", async () => {
    const odd = "a.b;c=;'\"!.d";
    const relay = await startTestRelay({ AGENT_API_TOKEN: odd });
    const path = "/api/v1/admin/reconciliation";
    expect(await relay.request("GET", path, { token: odd })).toMatchObject({ status: 200 });
    expect(await relay.request("GET", path, { token: `${odd}x` })).not.toMatchObject({
      status: 200,
    });
    await relay.close();
  });
});

describe("a token that its device did not sign as it stands", () => {
  const parts = () => signed().split(".");
  const forged: Readonly<Record<string, () => string>> = {
    "signed by another agent's key": () => signed({ by: other }),
    "without a signature, algorithm none": () =>
      `${base64({ ...deviceHeader(), alg: "none" })}.${parts()[1]}.`,
    "algorithm none with a signature": () => signed({ header: { alg: "none" } }),
    "with a symmetric algorithm and the public key as its secret": () => {
      const text = `${base64({ ...deviceHeader(), alg: "HS256" })}.${parts()[1]}`;
      const mac = createHmac("sha256", Buffer.from(agent.publicKey, "hex")).update(text);
      return `${text}.${mac.digest("base64url")}`;
    },
    "with the claims of another token": () => {
      const [header, , signature] = parts();
      return `${header}.${signed({ claims: { jti: "2" } }).split(".")[1]}.${signature}`;
    },
    "of another type": () => signed({ header: { typ: "JWT" } }),
    "without a type": () => signed({ header: { typ: undefined } }),
    "with an extension that has to be understood": () => signed({ header: { crit: ["x"], x: 1 } }),
    "with an issuer other than its subject": () => signed({ claims: { iss: other.agentId } }),
    "without an audience": () => signed({ claims: { aud: undefined } }),
    "for several audiences": () => signed({ claims: { aud: [other.did, t.did] } }),
    "without an end": () => signed({ claims: { exp: undefined } }),
    "with an end in text": () => signed({ claims: { exp: "9999999999" } }),
    "without an id": () => signed({ claims: { jti: undefined } }),
    "with a padded part": () => `${signed()}==`,
    "with another spelling of its last character": () => {
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const token = signed();
      return token.slice(0, -1) + alphabet[alphabet.indexOf(token.slice(-1)) + 1];
    },
    "longer than any token": () => signed({ claims: { more: "x".repeat(5_000) } }),
  };

  test.each(Object.entries(forged))("AC5: a forged token is refused: %s", async (_, forge) => {
    expect(await withToken(forge())).toMatchObject({ status: 401 });
  });
});

describe("access is denied by default", () => {
  const rows = Object.entries(operations) as [OperationName, Operation][];
  const guarded = rows.filter(([, { auth }]) => auth === "bearer");

  /** The sample request, with the given agent wherever it names an agent. */
  function ask(name: OperationName, token: string, as?: Pick<TestAgent, "agentId">) {
    const { body } = samples[name];
    const raw = body && JSON.stringify(body).replaceAll(UNKNOWN_ID, as?.agentId ?? UNKNOWN_ID);
    const path = buildPath(name, as?.agentId);
    return t.request(operations[name].method, path, { token, ...(raw !== undefined && { raw }) });
  }

  const signed = rows.filter(([, { auth }]) => auth === "peer");
  // A console session is opened with a code and continued with a cookie (sessions.test.ts).
  const others = rows.filter(
    ([, { auth, path }]) => auth !== "peer" && !path.startsWith("/api/v1/console/"),
  );

  test.each(others)("AC4, MN5: the operation %s admits the operator", async (name) => {
    expect([401, 403]).not.toContain((await ask(name, OPERATOR_TOKEN)).status);
  });

  test.each(signed)(
    "AC4, MN5: the operation %s admits only relays, by their signatures",
    async (name) => {
      const own = await t.token(agent);
      for (const token of [OPERATOR_TOKEN, own]) {
        expect(await ask(name, token)).toMatchObject({
          status: 403,
          body: { code: "federation.signature_invalid" },
        });
      }
    },
  );

  test.each(guarded)(
    "AC4, MN5: the operation %s admits an agent only as itself and with the one scope",
    async (name, row) => {
      // Each case has an agent of its own, because some operations end it.
      const self = await t.createAgent();
      const token = await t.token(self, row.scope === undefined ? [] : [row.scope]);
      expect([401, 403]).not.toContain((await ask(name, token, self)).status);
    },
  );

  test.each(rows.filter(([, { ownerOnly }]) => ownerOnly))(
    "AC4, MN5: the operation %s keeps an agent off another agent's path, and changes nothing there",
    async (name) => {
      const before = await t.asOperator("GET", balanceOf(other));
      expect(await ask(name, await t.token(agent), other)).toMatchObject({
        status: 403,
        body: { code: "auth.not_owner" },
      });
      expect((await t.asOperator("GET", balanceOf(other))).body).toEqual(before.body);
    },
  );

  test.each(["__proto__", "constructor", "toString", "%00", "%2e%2e", "%E0%A4%A", "*", "%2F"])(
    "MN17 the path of %s belongs to no agent",
    async (id) => {
      const path = `/api/v1/agents/${id}/balance`;
      const { status } = await t.request("GET", path, { token: await t.token(agent) });
      expect([403, 404]).toContain(status);
    },
  );
});

describe("the access check", () => {
  const path = (suffix = "") => `${balanceOf(agent)}${suffix}`;
  const ways: Readonly<Record<string, [method: string, path: () => string, status: number]>> = {
    HEAD: ["HEAD", () => path(), 401],
    "a query": ["GET", () => path("?agentId=x&token=y"), 401],
    PUT: ["PUT", () => path(), 405],
    "an unknown method": ["PROPFIND", () => path(), 405],
    "a method in lower case": ["get", () => path(), 401],
    "a slash at the end": ["GET", () => path("/"), 404],
    "a double slash": ["GET", () => path().replace("/agents", "//agents"), 404],
    "a double slash in front": ["GET", () => `/${path()}`, 404],
    "a dot segment": ["GET", () => path().replace("/agents", "/./agents"), 401],
    "two dots": ["GET", () => path().replace("/agents", "/x/../agents"), 401],
    "two dots in percent": ["GET", () => path().replace("/agents", "/x/%2e%2e/agents"), 401],
    "another case": ["GET", () => path().replace("/api", "/API"), 404],
    "a slash in percent": ["GET", () => path().replace("/balance", "%2Fbalance"), 401],
    "a letter in percent": ["GET", () => path().replace("/balance", "/%62alance"), 401],
    "a parameter of the path": ["GET", () => path(";x=1"), 404],
    "the public path in front": ["GET", () => `/health/..${path()}`, 401],
  };

  test.each(Object.entries(ways))(
    "AC8: a request does not bypass the access check by %s",
    async (_, [method, pathFor, status]) => {
      const reply = await t.request(method, pathFor());
      expect(reply.status).toBe(status);
      expect(reply.body).not.toHaveProperty("balance");
    },
  );

  test("OPTIONS is answered with the CORS headers and nothing else", async () => {
    const reply = await t.request("OPTIONS", path());
    expect(reply).toMatchObject({ status: 204, body: {} });
  });

  test("HEAD with a valid token is answered like GET, but without the body", async () => {
    const token = await t.token(agent);
    const [head, get] = [
      await t.request("HEAD", path(), { token }),
      await t.request("GET", path(), { token }),
    ];
    expect(head.status).toBe(get.status);
    expect(head.body).toEqual({});
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
  });
});
