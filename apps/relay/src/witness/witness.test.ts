import { sha256Hex } from "@agent/crypto";
import { formatAddCheckpoint, proveConsistency } from "@agent/transparency";
import type { ModelLog } from "@agent/transparency/model-log";
import { afterEach, describe, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { askWitness, createModelLog, witnessEnv } from "../../test/agents/witness.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function start(env: Record<string, string>): Promise<TestRelay> {
  const t = await startTestRelay(env);
  closing.push(() => t.close());
  return t;
}

const log = createModelLog(40);
const liar = createModelLog(40, 7);
const env = witnessEnv(log);
const checkpointPath = `/witness/v1/${sha256Hex(log.keys.origin)}/checkpoint`;

async function buildRequest(of: ModelLog, old: number, size: number): Promise<string> {
  const proof = old === 0 || old === size ? [] : await proveConsistency(old, size, of.readTile);
  return formatAddCheckpoint(old, proof, of.sign([], size));
}

describe("the witness of a relay", () => {
  test("the witness cosigns a log that only grows, and shows the newest head with both signatures", async () => {
    const t = await start(env);
    for (const [old, size] of [
      [0, 17],
      [17, 40],
      [40, 40],
    ] as const) {
      const reply = await askWitness(t, await buildRequest(log, old, size));
      expect(reply).toMatchObject({ status: 200 });
      expect(reply.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const shown = await t.request("GET", checkpointPath);
      expect(shown.text).toBe(log.sign([], size) + reply.text);
      const [, name = ""] = reply.text.split(" ");
      expect(name).toBe(`agent-relay/${t.relay.relayId}/witness`);
    }
  });

  test("the witness tells a log that assumes another size the size that it cosigned last", async () => {
    const t = await start(env);
    await askWitness(t, await buildRequest(log, 0, 17));
    for (const request of [
      await buildRequest(log, 0, 40),
      await buildRequest(log, 5, 17),
      await buildRequest(log, 18, 40),
    ]) {
      const reply = await askWitness(t, request);
      expect(reply).toMatchObject({ status: 409, text: "17\n" });
      expect(reply.headers.get("content-type")).toBe("text/x.tlog.size");
    }
  });

  test("the witness accepts any media type, but no body above 80 KiB", async () => {
    const t = await start(env);
    const raw = await buildRequest(log, 0, 17);
    for (const type of ["application/json", "image/png"]) {
      const headers = { "content-type": type };
      const reply = await t.request("POST", "/witness/v1/add-checkpoint", { raw, headers });
      expect([200, 409]).toContain(reply.status);
    }
    expect(await askWitness(t, raw + "a".repeat(81_920))).toMatchObject({
      status: 413,
      body: { code: "request.too_large", error: "Request body is too large: at most 80 KiB" },
    });
  });

  test("TL5 the witness cosigns for one of 50 requests from one size, and answers the others with the new size", async () => {
    const t = await start(env);
    await askWitness(t, await buildRequest(log, 0, 10));
    const sizes = Array.from({ length: 50 }, (_, at) => 11 + (at % 30));
    const requests = await Promise.all(sizes.map((size) => buildRequest(log, 10, size)));
    const replies = await Promise.all(requests.map((request) => askWitness(t, request)));
    const taken = replies.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(49);
    const shown = (await t.request("GET", checkpointPath)).text;
    expect(shown.endsWith(taken[0]!.text)).toBe(true);
    const size = Number(shown.split("\n")[1]);
    expect(sizes).toContain(size);
    for (const reply of replies.filter(({ status }) => status === 409)) {
      expect(reply.text).toBe(`${size}\n`);
    }
  });

  test("the witness serves nothing while it is off", async () => {
    const t = await start({ ...env, AGENT_WITNESS: "false" });
    expect(await askWitness(t, await buildRequest(log, 0, 10))).toMatchObject({ status: 404 });
    expect(await t.request("GET", checkpointPath)).toMatchObject({
      status: 404,
      body: { code: "route.not_found" },
    });
  });

  test("the witness cosigns nothing while the relay is frozen, and shows what it has cosigned", async () => {
    const t = await start(env);
    await askWitness(t, await buildRequest(log, 0, 10));
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    expect(await askWitness(t, await buildRequest(log, 10, 17))).toMatchObject({ status: 503 });
    expect((await t.request("GET", checkpointPath)).text).toContain("\n10\n");
  });

  test("the witness counts refusals by status", async () => {
    const t = await start(env);
    await askWitness(t, "junk");
    await askWitness(t, await buildRequest(log, 3, 10));
    const { text } = await t.asOperator("GET", "/metrics");
    expect(text).toContain('agent_relay_witness_refusals_total{status="400"} 1');
    expect(text).toContain('agent_relay_witness_refusals_total{status="409"} 1');
  });
});

describe("the evidence of a witness", () => {
  const countEvidence = async (t: TestRelay) =>
    /witness_evidence (\d+)/.exec((await t.asOperator("GET", "/metrics")).text)?.[1];

  test("evidence of two roots of one size is stored once and changes no state", async () => {
    const t = await start(env);
    await askWitness(t, await buildRequest(log, 0, 17));
    const fork = formatAddCheckpoint(17, [], liar.sign([], 17));
    for (let repeat = 0; repeat < 3; repeat += 1) {
      expect(await askWitness(t, fork)).toMatchObject({
        status: 422,
        body: { code: "log.equivocation" },
      });
    }
    expect(await countEvidence(t)).toBe("1");
    expect(t.listLogged("log.equivocation")).toHaveLength(1);
    expect(await askWitness(t, await buildRequest(log, 17, 40))).toMatchObject({ status: 200 });
  });

  test("evidence of a fork that names another old size is stored", async () => {
    const t = await start(env);
    await askWitness(t, await buildRequest(log, 0, 17));
    expect(await askWitness(t, formatAddCheckpoint(0, [], liar.sign([], 17)))).toMatchObject({
      status: 409,
    });
    expect(await countEvidence(t)).toBe("1");
  });

  test("evidence of a fork replaces a head without a valid proof if 16 pieces of evidence are already stored", async () => {
    const t = await start(env);
    await askWitness(t, await buildRequest(log, 0, 17));
    for (let size = 18; size < 40; size += 1) {
      const reply = await askWitness(t, formatAddCheckpoint(17, [], liar.sign([], size)));
      expect(reply.body).toMatchObject({ code: "log.consistency_invalid" });
    }
    expect(await countEvidence(t)).toBe("16");
    await askWitness(t, formatAddCheckpoint(17, [], liar.sign([], 17)));
    expect(await countEvidence(t)).toBe("16");
    const events = t.listLogged("log.equivocation");
    expect(events.at(-1)).toMatchObject({ code: "log.equivocation", level: "error" });
  });
});

describe("the limit of a log", () => {
  /** Asks from an address of its own, so that the limit of an address is not reached. */
  async function askFrom(t: TestRelay, address: number, body: string) {
    const request = new Request("http://relay.test/witness/v1/add-checkpoint", {
      method: "POST",
      body,
    });
    const remoteAddress = `192.0.2.${address % 250}`;
    return (await t.relay.fetch(request, { incoming: { socket: { remoteAddress } } })).status;
  }

  test("the limit of a log is 120 requests a minute with a valid signature, from any addresses", async () => {
    const t = await start({ ...env, AGENT_RATE_LIMIT_SCALE: "1" });
    const request = await buildRequest(log, 0, 17);
    for (let at = 0; at < 120; at += 1) expect([200, 409]).toContain(await askFrom(t, at, request));
    expect(await askFrom(t, 121, request)).toBe(429);
    await t.clock.advance(60_001);
    expect(await askFrom(t, 122, request)).toBe(409);
  });

  test("the limit of a log is not used up by a stranger without the key of the log", async () => {
    const t = await start({ ...env, AGENT_RATE_LIMIT_SCALE: "1" });
    const forged = (await buildRequest(log, 0, 17)).replace("\n17\n", "\n18\n");
    for (let at = 0; at < 150; at += 1) expect(await askFrom(t, at, forged)).toBe(403);
    expect(await askFrom(t, 200, await buildRequest(log, 0, 17))).toBe(200);
  });
});
