import { mintToken } from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import { isScopeGranted, limits, scopes, type Code, type Operation } from "@agent/wire";
import { StorageUnavailable } from "../../src/storage/storage.ts";
import { openEditedRelay, createRevocationSql, type EditedRelay } from "../stored/edited-relay.ts";
import {
  OPERATOR_TOKEN,
  processCount,
  startTestRelay,
  type Reply,
  type RequestOptions,
  type TestRelay,
} from "../test-relay.ts";
import { createFakePeer, type FakePeer } from "../network/fake-peer.ts";
import { consoleEnv, openConsole } from "../agents/console-session.ts";
import { createDisplacedAgent } from "../agents/key-proof.ts";
import { federated } from "./operator/federation.ts";
import { buildPath, samples, UNKNOWN_ID } from "./samples.ts";
import { throwingRelay } from "./throwing-relay.ts";
import { operations, type OperationName } from "../../src/operations.ts";

/** A handshake has two requests of one tier, which may reach the same process; one further request is allowed. */
const PEER_REQUESTS = 3;

/** The relays for the cases of implied refusals. */
export interface ImpliedRelays {
  readonly t: TestRelay;
  /** An agent that `t` knows. */
  readonly agent: TestAgent;
  /** An agent of `t` that lost its key to another. */
  readonly displaced: TestAgent;
  readonly revoked: EditedRelay;
  /** A relay that allows one call of each tier. */
  readonly rateLimited: TestRelay;
  readonly draining: TestRelay;
  readonly frozen: TestRelay;
  /** A relay at which the operator has used the idempotency key "taken" for every operation. */
  readonly keyed: EditedRelay;
  /** A relay that has a peer. */
  readonly peered: { readonly t: TestRelay; readonly peer: FakePeer };
  /** A relay that allows its peer `PEER_REQUESTS` requests of each operation a minute at each process. */
  readonly rateLimitedPeered: { readonly t: TestRelay; readonly peer: FakePeer };
  close(): Promise<void>;
}

export async function openImpliedRelays(): Promise<ImpliedRelays> {
  const t = await startTestRelay({ ...federated, ...consoleEnv });
  const narrow = await startTestRelay({ ...federated, AGENT_RATE_LIMIT_SCALE: "0.000001" });
  const draining = await startTestRelay(federated);
  await draining.relay.drain();
  const frozen = await startTestRelay(federated);
  await frozen.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  const agent = await t.createAgent();
  const { displaced } = await createDisplacedAgent(t);
  const path = `/api/v1/agents/${agent.agentId}/revoke-tokens`;
  await t.asOperator("POST", path, { jtis: ["revoked"] });
  const revoked = await openEditedRelay(createRevocationSql);
  const keyed = await openEditedRelay(() => usedKeys, { AGENT_WITNESS: "false" });
  const peered = await openPeered("0");
  const narrowPeered = await openPeered(String(PEER_REQUESTS / limits.federationRequests));
  return {
    t,
    agent,
    displaced,
    revoked,
    rateLimited: narrow,
    draining,
    frozen,
    keyed,
    peered,
    rateLimitedPeered: narrowPeered,
    async close() {
      await Promise.all(
        [t, revoked, narrow, draining, frozen, keyed, peered.t, narrowPeered.t].map((relay) =>
          relay.close(),
        ),
      );
    },
  };
}

async function openPeered(AGENT_RATE_LIMIT_SCALE: string) {
  const t = await startTestRelay({ ...federated, AGENT_RATE_LIMIT_SCALE });
  return { t, peer: await createFakePeer(t).completeHandshake() };
}

/** Sends a request that a peer has validly signed. */
async function requestSigned(
  { peer }: ImpliedRelays["peered"],
  name: OperationName,
  change: Record<string, unknown>,
): Promise<Reply> {
  const path = buildPath(name);
  const { body } = samples[name];
  if (body === undefined || typeof body === "string") return peer.get(path);
  return peer.post(path, {
    ...body,
    relay_id: peer.relayId,
    public_key: peer.publicKey,
    ...change,
  });
}

const usedKeys = (Object.keys(operations) as OperationName[])
  .flatMap((name) => [UNKNOWN_ID, ""].map((agent) => `${name} master ${agent}`))
  .map((scope) => `INSERT INTO idempotency_keys VALUES ('${scope}', 'taken', '', 200, '{}', 9e15)`)
  .join(";");

type ProvokeRefusal = (stage: ImpliedRelays, name: OperationName) => Promise<Reply>;

function requestOperation(
  { request }: Pick<TestRelay, "request">,
  name: OperationName,
  options: RequestOptions = {},
): Promise<Reply> {
  const { body } = samples[name];
  const content = typeof body === "string" ? { raw: body } : { body };
  return request(operations[name].method, buildPath(name), { ...content, ...options });
}

const withToken =
  (tokenOf: (stage: ImpliedRelays) => string | Promise<string>): ProvokeRefusal =>
  async (stage, name) =>
    requestOperation(stage.t, name, { token: await tokenOf(stage) });

/** Sends a body as the operator, so that only the body can be refused. */
const withBody =
  (options: RequestOptions): ProvokeRefusal =>
  ({ t }, name) =>
    requestOperation(t, name, { token: OPERATOR_TOKEN, body: undefined, ...options });

function mintAgentToken(
  { t, agent }: ImpliedRelays,
  change: Partial<Parameters<typeof mintToken>[0]>,
) {
  const now = t.clock.now();
  return mintToken({ ...agent, audience: t.did, scope: scopes, now, jti: "1", ...change });
}

/** Calls with the agent's token but without the required scope, on the agent's own path. */
const withoutScope: ProvokeRefusal = async ({ t, agent }, name) => {
  const { method, scope }: Operation = operations[name];
  const token = await t.token(
    agent,
    // A scope that contains the required one must be omitted as well.
    scopes.filter((word) => scope !== undefined && !isScopeGranted(new Set([word]), scope)),
  );
  const { body } = samples[name];
  return t.request(method, buildPath(name, agent.agentId), { token, body });
};

const createBrokenBody = () =>
  new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) });

const withKey = (relay: Pick<TestRelay, "request">, name: OperationName, key: string) =>
  requestOperation(relay, name, { token: OPERATOR_TOKEN, headers: { "idempotency-key": key } });

const failing = throwingRelay(new Error("a cause"));
const unavailable = throwingRelay(new StorageUnavailable("a cause"));

/** Provokes each refusal that an operation's row implies without declaring it. */
export const impliedRefusalCases: Partial<Record<Code, ProvokeRefusal>> = {
  "auth.missing": ({ t }, name) => requestOperation(t, name),
  "auth.unknown_token": withToken(() => "junk"),
  "auth.malformed_token": withToken(() => "e30.e30.AAAA"),
  "auth.expired_token": withToken((stage) =>
    mintAgentToken(stage, { now: stage.t.clock.now() - 2_000, lifetimeMs: 1_000 }),
  ),
  "auth.token_revoked": withToken((stage) => mintAgentToken(stage, { jti: "revoked" })),
  "auth.token_used": async ({ t }, name) => {
    const agent = await t.createAgent();
    const token = await t.token(agent);
    const path = `/api/v1/agents/${agent.agentId}/revoke-tokens`;
    await t.request("POST", path, { token, body: { jtis: ["another"] } });
    const options = { token, body: samples[name].body };
    return t.request(operations[name].method, buildPath(name, agent.agentId), options);
  },
  "auth.verification_failed": withToken((stage) =>
    mintAgentToken(stage, { audience: stage.agent.did }),
  ),
  "auth.device_not_authorized": withToken(({ t }) => t.token(t.createUnknownAgent())),
  "agent.key_displaced": withToken(({ t, displaced }) => t.token(displaced)),
  "agent.revoked": async ({ revoked: { t, agent } }, name) =>
    requestOperation(t, name, { token: await t.token(agent) }),
  "session.level": async ({ t }, name) => {
    const { token } = await openConsole(t, "view");
    return requestOperation(t, name, { token });
  },
  "auth.master_only": withToken(({ t, agent }) => t.token(agent)),
  "auth.not_owner": withToken(({ t, agent }) => t.token(agent)),
  "auth.scope_missing": withoutScope,

  "request.malformed_json": withBody({ raw: "{" }),
  "request.too_deep": withBody({ raw: `{"a":${"[".repeat(64)}${"]".repeat(64)}}` }),
  "request.too_large": withBody({ raw: new Uint8Array(limits.requestBytes + 1) }),
  "request.media_type": withBody({ raw: "{}", headers: { "content-type": "text/plain" } }),
  "request.timeout": (stage, name) => withBody({ raw: createBrokenBody() })(stage, name),
  "request.invalid": ({ t }, name) => {
    const { method, path, body }: Operation = operations[name];
    const isText = body?.type === "string";
    const broken = body === undefined ? {} : isText ? { raw: Uint8Array.of(0xff) } : { body: [] };
    return t.request(method, `${path}?limit=0&wait=-1&from=x&after=x`, {
      token: OPERATOR_TOKEN,
      ...broken,
    });
  },

  "idempotency.key_invalid": ({ t }, name) => withKey(t, name, "two words"),
  "idempotency.key_in_use": async ({ t }, name) => {
    // At least two of these reach one process; another process replays the answer of the first.
    const asked = Array.from({ length: 2 * processCount ** 2 }, () => withKey(t, name, "one"));
    const refused = (await Promise.all(asked)).find(({ status }) => status === 409);
    return refused ?? withKey(t, name, "one");
  },
  "idempotency.key_reused": ({ keyed: { t } }, name) => withKey(t, name, "taken"),

  "route.not_found": ({ keyed: { t: alone } }, name) => requestOperation(alone, name),
  "federation.signature_invalid": ({ t }, name) => requestOperation(t, name),
  "federation.timestamp_expired": ({ t, peered }, name) => {
    const { method } = operations[name];
    const headers = peered.peer.headers(method, buildPath(name), {}, t.clock.now() - 300_001);
    return requestOperation(t, name, { headers });
  },
  "federation.wrong_receiver": async ({ peered }, name) => {
    const peer = name === "confirmPeer" ? createFakePeer(peered.t) : peered.peer;
    if (name === "confirmPeer") await peer.propose();
    const timestamp = peered.t.clock.now();
    return requestSigned({ ...peered, peer }, name, { to: UNKNOWN_ID, timestamp });
  },

  "rate.exceeded": async ({ rateLimited: narrow, rateLimitedPeered: narrowPeered }, name) => {
    const isOfPeer = (operations[name].auth as string) === "peer" && operations[name].tier === null;
    // A request with a wrong time or for another relay does not count towards the peer's rate.
    const sent = { timestamp: narrowPeered.t.clock.now() };
    const request = () =>
      isOfPeer ? requestSigned(narrowPeered, name, sent) : requestOperation(narrow, name);
    const allowed = (isOfPeer ? PEER_REQUESTS : 1) * processCount;
    for (let asked = 0; asked < allowed; asked += 1) await request();
    return request();
  },
  "server.draining": ({ draining }, name) => requestOperation(draining, name),
  "server.frozen": ({ frozen }, name) => requestOperation(frozen, name, { token: OPERATOR_TOKEN }),
  "server.failed": (_, name) => requestOperation(failing, name),
  "server.unavailable": (_, name) => requestOperation(unavailable, name),
};
