import { mintToken } from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import {
  limits,
  operations,
  scopes,
  type Code,
  type Operation,
  type OperationName,
} from "@agent/wire";
import { StorageUnavailable } from "../../src/storage/storage.ts";
import { openEdited, revocationOf, type Edited } from "../edited-relay.ts";
import {
  masterToken,
  startTestRelay,
  type Reply,
  type RequestOptions,
  type TestRelay,
} from "../test-relay.ts";
import { fakePeer, type FakePeer } from "../fake-peer.ts";
import { displacedAgent } from "../key-proof.ts";
import { federated } from "./federation.ts";
import { pathOf, samples, unknownId } from "./samples.ts";
import { throwingRelay } from "./throwing-relay.ts";

/** The relays on which a row's implied refusals are brought about. */
export interface Stage {
  readonly t: TestRelay;
  /** Known to `t`. */
  readonly agent: TestAgent;
  readonly revoked: Edited;
  /** Allows one call of each tier. */
  readonly narrow: TestRelay;
  readonly draining: TestRelay;
  readonly frozen: TestRelay;
  /** Where the operator has used the key "taken" in every operation. */
  readonly keyed: Edited;
  /** A relay that has a peer. */
  readonly peered: { readonly t: TestRelay; readonly peer: FakePeer };
  /** The same, and the peer may make three requests a minute, of which its handshake was two. */
  readonly narrowPeered: { readonly t: TestRelay; readonly peer: FakePeer };
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const t = await startTestRelay(federated);
  const narrow = await startTestRelay({ ...federated, AGENT_RATE_LIMIT_SCALE: "0.000001" });
  const draining = await startTestRelay(federated);
  draining.relay.drain();
  const frozen = await startTestRelay(federated);
  await frozen.asMaster("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  const agent = await t.agent();
  const path = `/api/v1/agents/${agent.agentId}/revoke-tokens`;
  await t.asMaster("POST", path, { jtis: ["revoked"] });
  const revoked = await openEdited(revocationOf);
  const keyed = await openEdited(() => usedKeys);
  const [peered, narrowPeered] = [await openPeered("0"), await openPeered("0.1")];
  return {
    t,
    agent,
    revoked,
    narrow,
    draining,
    frozen,
    keyed,
    peered,
    narrowPeered,
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
  return { t, peer: await fakePeer(t).befriend() };
}

/** A request that a peer has truly signed. */
async function askSigned(
  { peer }: Stage["peered"],
  name: OperationName,
  change: Record<string, unknown>,
): Promise<Reply> {
  const path = pathOf(name);
  const { body } = samples[name];
  if (body === undefined) return peer.get(path);
  return peer.post(path, {
    ...body,
    relay_id: peer.relayId,
    public_key: peer.publicKey,
    ...change,
  });
}

const usedKeys = (Object.keys(operations) as OperationName[])
  .flatMap((name) => [unknownId, ""].map((agent) => `${name} master ${agent}`))
  .map((scope) => `INSERT INTO idempotency_keys VALUES ('${scope}', 'taken', '', 200, '{}', 9e15)`)
  .join(";");

type Provoke = (stage: Stage, name: OperationName) => Promise<Reply>;

function ask(
  { request }: Pick<TestRelay, "request">,
  name: OperationName,
  options: RequestOptions = {},
): Promise<Reply> {
  const { body } = samples[name];
  return request(operations[name].method, pathOf(name), { body, ...options });
}

const withToken =
  (tokenOf: (stage: Stage) => string | Promise<string>): Provoke =>
  async (stage, name) =>
    ask(stage.t, name, { token: await tokenOf(stage) });

/** As the operator, so that nothing but the body can be wrong. */
const withBody =
  (options: RequestOptions): Provoke =>
  ({ t }, name) =>
    ask(t, name, { token: masterToken, body: undefined, ...options });

function mint({ t, agent }: Stage, change: Partial<Parameters<typeof mintToken>[0]>) {
  const now = t.clock.now();
  return mintToken({ ...agent, audience: t.did, scope: scopes, now, jti: "1", ...change });
}

/** The agent's token with every scope but the one that is asked for, on a path of its own. */
const withoutScope: Provoke = async ({ t, agent }, name) => {
  const { method, scope }: Operation = operations[name];
  const token = await t.token(
    agent,
    scopes.filter((word) => word !== scope),
  );
  const { body } = samples[name];
  return t.request(method, pathOf(name, agent.agentId), { token, body });
};

const brokenOff = () =>
  new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) });

const withKey = (relay: Pick<TestRelay, "request">, name: OperationName, key: string) =>
  ask(relay, name, { token: masterToken, headers: { "idempotency-key": key } });

/** How each refusal is brought about that an operation's row implies without naming it. */
export const implied: Partial<Record<Code, Provoke>> = {
  "auth.missing": ({ t }, name) => ask(t, name),
  "auth.unknown_token": withToken(() => "junk"),
  "auth.malformed_token": withToken(() => "e30.e30.AAAA"),
  "auth.expired_token": withToken((stage) =>
    mint(stage, { now: stage.t.clock.now() - 2_000, lifetimeMs: 1_000 }),
  ),
  "auth.token_revoked": withToken((stage) => mint(stage, { jti: "revoked" })),
  "auth.token_used": async ({ t }, name) => {
    const agent = await t.agent();
    const token = await t.token(agent);
    const path = `/api/v1/agents/${agent.agentId}/revoke-tokens`;
    await t.request("POST", path, { token, body: { jtis: ["another"] } });
    const options = { token, body: samples[name].body };
    return t.request(operations[name].method, pathOf(name, agent.agentId), options);
  },
  "auth.verification_failed": withToken((stage) => mint(stage, { audience: stage.agent.did })),
  "auth.device_not_authorized": withToken(({ t }) => t.token(t.stranger())),
  "agent.key_displaced": async ({ t }, name) => {
    const { displaced } = await displacedAgent(t);
    return ask(t, name, { token: await t.token(displaced) });
  },
  "agent.revoked": async ({ revoked: { t, agent } }, name) =>
    ask(t, name, { token: await t.token(agent) }),
  "auth.master_only": withToken(({ t, agent }) => t.token(agent)),
  "auth.not_owner": withToken(({ t, agent }) => t.token(agent)),
  "auth.scope_missing": withoutScope,

  "request.malformed_json": withBody({ raw: "{" }),
  "request.too_deep": withBody({ raw: `{"a":${"[".repeat(64)}${"]".repeat(64)}}` }),
  "request.too_large": withBody({ raw: new Uint8Array(limits.requestBytes + 1) }),
  "request.media_type": withBody({ raw: "{}", headers: { "content-type": "text/plain" } }),
  "request.timeout": (stage, name) => withBody({ raw: brokenOff() })(stage, name),
  "request.invalid": ({ t }, name) => {
    const { method, path, body }: Operation = operations[name];
    const broken = body === undefined ? {} : { body: [] };
    return t.request(method, `${path}?limit=0&wait=-1&from=x&after=x`, {
      token: masterToken,
      ...broken,
    });
  },

  "idempotency.key_invalid": ({ t }, name) => withKey(t, name, "two words"),
  "idempotency.key_in_use": async ({ t }, name) => {
    const both = await Promise.all([withKey(t, name, "one"), withKey(t, name, "one")]);
    return both.find(({ status }) => status === 409) ?? both[1];
  },
  "idempotency.key_reused": ({ keyed: { t } }, name) => withKey(t, name, "taken"),

  "route.not_found": ({ keyed: { t: alone } }, name) => ask(alone, name),
  "federation.signature_invalid": ({ t }, name) => ask(t, name),
  "federation.timestamp_expired": ({ t, peered }, name) => {
    const { method } = operations[name];
    const headers = peered.peer.headers(method, pathOf(name), {}, t.clock.now() - 300_001);
    return ask(t, name, { headers });
  },
  "federation.wrong_receiver": async ({ peered }, name) => {
    const peer = name === "confirmPeer" ? fakePeer(peered.t) : peered.peer;
    if (name === "confirmPeer") await peer.propose();
    const timestamp = peered.t.clock.now();
    return askSigned({ ...peered, peer }, name, { to: unknownId, timestamp });
  },

  "rate.exceeded": async ({ narrow, narrowPeered }, name) => {
    if ((operations[name].auth as string) === "peer" && operations[name].tier === null) {
      await askSigned(narrowPeered, name, {});
      return askSigned(narrowPeered, name, {});
    }
    await ask(narrow, name);
    return ask(narrow, name);
  },
  "server.draining": ({ draining }, name) => ask(draining, name),
  "server.frozen": ({ frozen }, name) => ask(frozen, name, { token: masterToken }),
  "server.failed": (_, name) => ask(throwingRelay(new Error("a cause")), name),
  "server.unavailable": (_, name) => ask(throwingRelay(new StorageUnavailable("a cause")), name),
};
