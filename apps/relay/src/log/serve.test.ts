import { gunzipSync } from "node:zlib";
import { bytesToHex, canonicalize, hexToBytes, sha256Hex, verifyJson } from "@agent/crypto";
import {
  computeRoot,
  formatTilePath,
  openCheckpoint,
  parseEntryBundle,
  parseProofFile,
  parseVerifierKey,
  verifyEntryInclusion,
} from "@agent/transparency";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const ENV = { AGENT_BASE_URL: "https://relay.test" };
let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay(ENV);
});
afterEach(() => t.close());

async function fetchBytes(path: string, headers: Record<string, string> = {}) {
  const response = await t.relay.fetch(
    new Request(`http://relay.test/log/v1/${path}`, { headers }),
  );
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

async function getStatement() {
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  return body as { public_key: string; log: Record<string, string | null> };
}

async function openHead(path: string) {
  const { log } = await getStatement();
  const parsed = parseVerifierKey(log["vkey"]!);
  if (!parsed.ok) throw new Error(parsed.code);
  const { text } = await t.request("GET", path);
  return openCheckpoint(text, { logKey: parsed.key, witnesses: [], quorum: 0 });
}

const formatCosignature = (witness: string) =>
  `\u2014 ${witness} ${Buffer.alloc(76, 7).toString("base64")}\n`;

test("the log states its key and its address under the relay's key", async () => {
  const { public_key, log } = await getStatement();
  expect(log).toMatchObject({
    prefix: "https://relay.test/log/v1",
    witness_prefix: "https://relay.test/witness/v1",
  });
  expect(log["witness_vkey"]).toContain("/witness+");
  expect(verifyJson(log, hexToBytes(public_key))).toBe(true);
});

test("the log serves tiles and bundles from which a reader can compute the root of the signed head", async () => {
  for (let agents = 0; agents < 300; agents += 1) await t.createAgent();
  await t.relay.tick();
  const opened = await openHead("/log/v1/checkpoint");
  if (!opened.ok) throw new Error(opened.code);
  const { size, root } = opened.head;
  expect(size).toBe(300);
  const readTile = async (level: number, index: number, width: number) =>
    (await fetchBytes(formatTilePath(level, index, width))).bytes;
  expect(bytesToHex(await computeRoot(size, readTile))).toBe(bytesToHex(root));
  const full = await fetchBytes("tile/0/000");
  // The next generation of the log has other tiles at the same addresses.
  expect(full.response.headers.get("cache-control")).toBe("max-age=3600");
  expect((await fetchBytes("tile/0/000.p/7")).bytes).toEqual(full.bytes.slice(0, 7 * 32));
  const bundle = await fetchBytes("tile/entries/001.p/44", { "accept-encoding": "gzip" });
  expect(bundle.response.headers.get("content-encoding")).toBe("gzip");
  expect(parseEntryBundle(new Uint8Array(gunzipSync(bundle.bytes)), 44)).toMatchObject({
    ok: true,
  });
});

test.each([
  "tile/0/000.p/2",
  "tile/0/001",
  "tile/1/000.p/1",
  "tile/0/0",
  "tile/00/000",
  "tile/0/x000/000.p/1",
  "tile/64/000",
  "tile/0/000.p/0",
  "tile/0/000.p/257",
  "tile/entries/000.p/2",
])("the log answers 404 for %s", async (path) => {
  await t.createAgent();
  await t.relay.tick();
  const { response } = await fetchBytes(path);
  expect(response.status).toBe(404);
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("the log proves the entry of an artifact under the published head", async () => {
  const { agentId: agent_id, publicKey: public_key } = await t.createAgent();
  await t.relay.tick();
  const artifact = { agent_id, public_key, device_id: null, valid_from: t.clock.now() };
  const hash = sha256Hex(canonicalize(artifact));
  const { text } = await t.request("GET", `/log/v1/proof?artifact=${hash}`);
  const parsed = parseProofFile(text);
  const opened = await openHead("/log/v1/checkpoint");
  if (!parsed.ok || parsed.entry === null || !opened.ok) throw new Error(text);
  const { index, proof, entry } = parsed;
  const { size, root } = opened.head;
  expect(verifyEntryInclusion({ index, size, proof, root, entry })).toMatchObject({ ok: true });
});

test("the log signs nothing while nothing is new or the relay is frozen", async () => {
  await t.createAgent();
  await t.relay.tick();
  const latest = async () => (await t.request("GET", "/log/v1/latest")).text;
  const before = await latest();
  await t.clock.advance(60_000);
  await t.relay.tick();
  expect(await latest()).toBe(before);
  await t.createAgent();
  await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  await t.relay.tick();
  expect(await latest()).toBe(before);
  await t.asOperator("POST", "/api/v1/admin/unfreeze");
  await t.relay.tick();
  expect(await latest()).not.toBe(before);
});

test("the log publishes a head only once it has the cosignatures of its quorum", async () => {
  const strict = await startTestRelay({ ...ENV, AGENT_LOG_QUORUM: "2" });
  await strict.createAgent();
  await strict.relay.tick();
  expect(await strict.request("GET", "/log/v1/checkpoint")).toMatchObject({ status: 404 });
  const [one, other] = ["one.example/w", "other.example/w"].map(formatCosignature) as [
    string,
    string,
  ];
  const { transparencyLog: log } = strict.relay;
  // Several lines of one witness count as one.
  await log.addCosignatures(1, [one, one]);
  await log.addCosignatures(1, [one]);
  expect(await strict.request("GET", "/log/v1/checkpoint")).toMatchObject({ status: 404 });
  await log.addCosignatures(1, [other]);
  const { text } = await strict.request("GET", "/log/v1/checkpoint");
  expect(text.split(one)).toHaveLength(2);
  const { body } = await strict.asOperator("GET", "/api/v1/admin/log");
  expect(body).toMatchObject({ size: 1, lag: 0, published: { size: 1, cosigned: 2 } });
  await strict.close();
});

test.each([
  [
    "a name of 60 KB beside another witness",
    ["w".repeat(60_000), "w.example/w".repeat(400), "w.example"],
    1,
  ],
  ["names of 800 bytes", Array.from({ length: 70 }, (_, at) => `w${at}`.padEnd(800, "w")), 63],
  ["names of the usual length", Array.from({ length: 70 }, (_, at) => `w${at}.example/w`), 63],
])(
  "TL15 the head stays readable with the lines of witnesses that have %s",
  async (_, names, kept) => {
    await t.createAgent();
    await t.relay.tick();
    for (const name of names)
      await t.relay.transparencyLog.addCosignatures(1, [formatCosignature(name)]);
    for (const path of ["/log/v1/latest", "/log/v1/checkpoint"]) {
      expect(await openHead(path)).toMatchObject({ ok: true, head: { size: 1 } });
    }
    const { body } = await t.asOperator("GET", "/api/v1/admin/log");
    expect(body).toMatchObject({ published: { cosigned: kept } });
  },
);

test("the log answers 404 below its prefix while it is off", async () => {
  const off = await startTestRelay({ ...ENV, AGENT_LOG: "false" });
  for (const path of ["checkpoint", "latest", "tile/0/000", `proof?artifact=${"0".repeat(64)}`]) {
    expect(await off.request("GET", `/log/v1/${path}`)).toMatchObject({
      status: 404,
      body: { code: "route.not_found" },
    });
  }
  const { body } = await off.request("GET", "/.well-known/agent-relay.json");
  expect(body["log"]).toMatchObject({ origin: null, vkey: null, prefix: null });
  await off.close();
});
