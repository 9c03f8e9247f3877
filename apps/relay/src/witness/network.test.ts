import {
  formatVerifierKey,
  openCheckpoint,
  parseVerifierKey,
  signLogStatement,
} from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { afterEach, describe, expect, test } from "vitest";
import { federated } from "../../test/contract/operator/federation.ts";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer } from "../../test/network/listening-peer.ts";
import { advanceUntil, startNetwork, type TestSite } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { askWitness, createModelLog, witnessEnv } from "../../test/agents/witness.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface LogState {
  readonly size: number;
  readonly held: string | null;
  readonly vkey: string;
  readonly latest: { readonly note: string; readonly cosigned: number } | null;
  readonly witnesses: readonly {
    readonly name: string;
    readonly vkey: string;
    readonly state: string;
    readonly size: number | null;
  }[];
  readonly evidence: readonly object[];
}

async function readState(t: Pick<TestRelay, "asOperator">): Promise<LogState> {
  return (await t.asOperator("GET", "/api/v1/admin/log")).body as unknown as LogState;
}

function parseKey(vkey: string) {
  const parsed = parseVerifierKey(vkey);
  if (!parsed.ok) throw new Error(vkey);
  return parsed.key;
}

const triangle = [
  [0, 1],
  [1, 2],
  [0, 2],
] as const;

async function startTriangle(env: Record<string, string> = {}) {
  const network = await startNetwork(["alpha", "beta", "gamma"], triangle, {
    AGENT_LOG_WITNESS_INTERVAL_MS: "1000",
    ...env,
  });
  closing.push(() => network.close());
  return network;
}

const isCosignedBy = (site: TestSite, count: number) => async () =>
  (await readState(site)).latest?.cosigned === count;

test("three relays cosign each other's logs after their handshakes, and each log has two cosignatures", async () => {
  const { clock, sites } = await startTriangle();
  for (const site of sites) await site.createAgent();
  await advanceUntil(clock, sites, { stepMs: 1_000, what: "two cosignatures each" }, async () => {
    const all = await Promise.all(sites.map((site) => isCosignedBy(site, 2)()));
    return all.every(Boolean);
  });
  for (const site of sites) {
    const { latest, vkey, witnesses } = await readState(site);
    expect(witnesses).toHaveLength(2);
    const opened = openCheckpoint(latest!.note, {
      logKey: parseKey(vkey),
      witnesses: witnesses.map((witness) => parseKey(witness.vkey)),
      quorum: 2,
    });
    expect(opened).toMatchObject({ ok: true });
  }
});

test("a log that grows is cosigned again, from the size that its witness cosigned last", async () => {
  const { clock, sites } = await startTriangle();
  const [alpha] = sites as [TestSite];
  for (const agents of [1, 3]) {
    for (let count = 0; count < agents; count += 1) await alpha.createAgent();
    await advanceUntil(clock, sites, { stepMs: 1_000, what: "cosignatures" }, async () => {
      const { latest, size } = await readState(alpha);
      return latest?.cosigned === 2 && Number(latest.note.split("\n")[1]) === size;
    });
  }
  expect((await readState(alpha)).witnesses.map(({ state }) => state)).toEqual([
    "cosigned",
    "cosigned",
  ]);
});

test("a quorum publishes no head before two witnesses have cosigned it", async () => {
  const { clock, sites } = await startTriangle({ AGENT_LOG_QUORUM: "2" });
  const [alpha] = sites as [TestSite];
  await alpha.createAgent();
  await alpha.relay.tick();
  const early = await alpha.request("GET", "/log/v1/checkpoint");
  expect(early).toMatchObject({ status: 404, body: { code: "log.no_checkpoint" } });
  await advanceUntil(clock, sites, { stepMs: 1_000, what: "a published head" }, async () => {
    return (await alpha.request("GET", "/log/v1/checkpoint")).status === 200;
  });
});

test("a witness that is down delays nothing but its own line", async () => {
  const { clock, sites } = await startTriangle();
  const [alpha, beta, gamma] = sites as [TestSite, TestSite, TestSite];
  await alpha.createAgent();
  await advanceUntil(clock, sites, { stepMs: 1_000, what: "cosignatures" }, isCosignedBy(alpha, 2));
  await gamma.stop();
  await alpha.createAgent();
  await advanceUntil(clock, [alpha, beta], { stepMs: 1_000, what: "a line" }, async () => {
    const { latest, size } = await readState(alpha);
    return latest?.cosigned === 1 && Number(latest.note.split("\n")[1]) === size;
  });
  const { witnesses } = await readState(alpha);
  expect(witnesses.map(({ state }) => state).toSorted()).toEqual(["cosigned", "unreachable"]);
});

/** Starts a peer of a relay that answers with a given document. */
async function addPeer(t: TestRelay, answer: (path: string) => unknown) {
  const listening = await startListeningPeer(({ path }) => answer(path));
  closing.push(() => listening.close());
  return createFakePeer(t, listening.url);
}

async function tick(t: TestRelay, ms = 1_000): Promise<void> {
  await t.clock.advance(ms);
  await t.relay.tick();
  await t.relay.idle();
}

describe("the statement of a peer about its log", () => {
  const log = createModelLog(20);
  const other = new ModelLog(2);
  const HOUR_MS = 3_600_000;

  async function startStating(env: Record<string, string> = {}) {
    const times = { AGENT_LOG_WITNESS_INTERVAL_MS: "1000" };
    const t = await startTestRelay({ ...federated, ...times, ...env });
    closing.push(() => t.close());
    const cosign = (of: ModelLog) =>
      askWitness(t, `old 0\n\n${of.sign([], of.size)}`).then(({ status }) => status);
    return { t, cosign, ...(await joinStating(t)) };
  }

  /** Lets a relay become a peer that can state a log as its own. */
  async function joinStating(t: TestRelay) {
    let stated: unknown;
    const peer = await addPeer(t, (path) =>
      path.startsWith("/.well-known") ? { log: stated } : {},
    );
    await peer.completeHandshake();
    const state = (from: ModelLog | null, signer = peer.secretKey) => {
      const key = from?.keys.logKey;
      stated = signLogStatement(
        peer.relayId,
        { log: key === undefined ? null : { key, prefix: null }, witness: null },
        signer,
      );
    };
    return { peer, state };
  }

  test("a peer's statement about its log is read soon after the handshake, and the log is cosigned then", async () => {
    const { t, state, cosign } = await startStating();
    expect(await cosign(log)).toBe(404);
    state(log);
    await tick(t);
    expect(await cosign(log)).toBe(200);
  });

  test("a peer's statement about its log is read with each heartbeat until it is known", async () => {
    const { t, state, cosign } = await startStating();
    await tick(t);
    state(log);
    await tick(t, 60_000);
    expect(await cosign(log)).toBe(200);
  });

  test("a peer's statement about its log counts only if the peer's key signed it", async () => {
    const { t, state, cosign } = await startStating();
    state(log, new Uint8Array(32).fill(9));
    await tick(t);
    expect(await cosign(log)).toBe(404);
    expect(t.listLogged("log.statement_refused")).toMatchObject([
      { code: "log.signature_invalid", level: "warn" },
    ]);
  });

  test("a peer's statement cannot give the pinned log another key", async () => {
    const { t, state, cosign } = await startStating();
    state(log);
    await tick(t);
    expect(await cosign(log)).toBe(200);
    state(other);
    await tick(t, HOUR_MS);
    expect(t.listLogged("log.key_changed")).toHaveLength(1);
    other.append(new Uint8Array(90).fill(1));
    expect(await cosign(other)).toBe(403);
  });

  test("a peer's statement cannot give a log that the operator named another key", async () => {
    const { t, state, cosign } = await startStating(witnessEnv(log));
    state(new ModelLog(3, { origin: log.keys.origin }));
    await tick(t);
    expect(await cosign(log)).toBe(200);
    expect(t.listLogged("log.key_changed")).toHaveLength(1);
  });

  test("a removed peer's statement no longer counts, and a new handshake does not roll its log back", async () => {
    const { t, peer, state, cosign } = await startStating();
    state(log);
    await tick(t);
    expect(await cosign(log)).toBe(200);
    await peer.remove();
    expect(await cosign(log)).toBe(404);
    await t.clock.advance(1_000);
    await peer.completeHandshake();
    await tick(t);
    // The state is the earlier one, of size 20 and not 0.
    const again = await askWitness(t, `old 0\n\n${log.sign([], 10)}`);
    expect(again).toMatchObject({ status: 409, text: "20\n" });
  });

  test.each([
    ["with the id of its relay", (relayId: string) => `agent-relay/${relayId}`],
    ["with a name of its own", () => "log.example/own"],
  ])(
    "a peer that states another relay's log %s and then leaves does not take it from that relay",
    async (_, nameOf) => {
      const { t, peer, state, cosign } = await startStating();
      const own = new ModelLog(3, { origin: nameOf(peer.relayId) });
      own.append(new Uint8Array(90).fill(1));
      state(own);
      await tick(t);
      expect(await cosign(own)).toBe(200);
      // The key of a log is public, so anyone can state it.
      const thief = await joinStating(t);
      thief.state(own);
      await tick(t);
      expect((await thief.peer.remove()).status).toBe(200);
      expect(await cosign(own)).not.toBe(404);
    },
  );
});

describe("a witness that misbehaves, or knows a newer head", () => {
  const stranger = new ModelLog(8, { origin: "stranger" });

  async function startAsking(answer: (path: string) => unknown) {
    const listening = await startListeningPeer((asked, response) => {
      const value = answer(asked.path);
      if (typeof value !== "object") return value;
      const {
        status = 200,
        text = "",
        headers = {},
      } = value as {
        status?: number;
        text?: string;
        headers?: Record<string, string>;
      };
      response.writeHead(status, headers);
      response.end(text);
      return {};
    });
    closing.push(() => listening.close());
    const key = formatVerifierKey(stranger.keys.witnessKey);
    const t = await startTestRelay({
      AGENT_LOG_WITNESSES: `${key} ${listening.url}/w`,
      AGENT_LOG_WITNESS_INTERVAL_MS: "1000",
    });
    closing.push(() => t.close());
    await t.createAgent();
    await tick(t);
    await tick(t);
    return t;
  }

  test.each([
    ["an endless body", { status: 200, text: "a".repeat(3_000_000) }, "unreachable"],
    ["a note of more than 64 KiB", { status: 200, text: "a".repeat(70_000) }, "unreachable"],
    ["a redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "unreachable"],
    ["a broken connection", undefined, "unreachable"],
    ["no line", { status: 200, text: "" }, "refused"],
    ["a line of another key", { status: 200, text: stranger.sign().split("\n\n")[1] }, "refused"],
    ["a size of 2^53", { status: 409, text: "9007199254740992\n" }, "refused"],
    ["a size that is no number", { status: 409, text: "0x1\n" }, "refused"],
    ["a status of its own", { status: 422, text: "" }, "refused"],
  ])("TL7 a witness that misbehaves by %s adds nothing to a head", async (_, answer, state) => {
    const t = await startAsking((path) =>
      path.endsWith("/checkpoint") ? { status: 404 } : answer,
    );
    const { latest, witnesses, held } = await readState(t);
    expect(witnesses).toMatchObject([{ state, size: null }]);
    expect(latest?.cosigned).toBe(0);
    expect(held).toBeNull();
  });

  test("a witness that misbehaves is requested again only after ten seconds, then after twenty", async () => {
    const times: number[] = [];
    let t: TestRelay | undefined;
    t = await startAsking((path) => {
      if (!path.endsWith("/checkpoint")) times.push(t?.clock.now() ?? 0);
      return path.endsWith("/checkpoint") ? { status: 404 } : { status: 500 };
    });
    const asked = times.length;
    for (let second = 0; second < 40; second += 1) await tick(t);
    expect(times.length - asked).toBe(2);
    expect(times.at(-1)! - times.at(-2)!).toBe(20_000);
  });

  test("a witness that shows a head that the log never signed does not stop the log", async () => {
    const t = await startAsking((path) =>
      path.endsWith("/checkpoint") ? { status: 200, text: stranger.sign() } : { status: 409 },
    );
    expect((await readState(t)).held).toBeNull();
  });

  test("a witness that knows a larger head under the same key stops the signing of heads, but not other work", async () => {
    // The same seed gives the same keys, as an older copy of the database would.
    const newer = await startTestRelay();
    closing.push(() => newer.close());
    for (let count = 0; count < 5; count += 1) await newer.createAgent();
    await newer.relay.tick();
    const text = (await newer.request("GET", "/log/v1/latest")).text;
    const t = await startAsking((path) =>
      path.endsWith("/checkpoint") ? { status: 200, text } : { status: 409, text: "5\n" },
    );
    const { held, latest } = await readState(t);
    expect(held).toContain("size 5");
    expect(t.listLogged("log.behind_witness")).toHaveLength(1);
    await t.createAgent();
    await tick(t);
    const after = await readState(t);
    expect(after.latest).toEqual(latest);
    expect(after.size).toBe(2);
    expect((await t.request("GET", "/health/ready")).status).toBe(200);
  });
});
