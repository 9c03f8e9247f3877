import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { bytesToHex, generateKeyPair } from "@agent/crypto";
import { ModelLog } from "@agent/transparency/model-log";
import { signLogStatement } from "@agent/transparency";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { proveArtifact } from "./prove-artifact.ts";
import { readLog } from "./read-log.ts";

const { publicKey, secretKey } = generateKeyPair();
const relayId = "019b7d21-53eb-7d06-950b-e656da9e2991";
const log = new ModelLog(1);
log.append(new Uint8Array(90));
const { logKey } = log.keys;
const prefix = "https://relay.example/log/v1";
const stated = signLogStatement(
  relayId,
  { log: { key: logKey, prefix }, witness: null },
  secretKey,
);
const identity = JSON.stringify({
  relay_id: relayId,
  public_key: bytesToHex(publicKey),
  log: stated,
});

/** The path that fails, and its status; every path that is not set answers 404. */
let failing: readonly [path: string, status: number];
const server = createServer(({ url = "" }, response) => {
  const [path, status] = failing;
  if (url.startsWith(path)) return response.writeHead(status).end("{}");
  if (url === "/.well-known/agent-relay.json") return response.end(identity);
  if (url === "/log/v1/latest" || url === "/log/v1/checkpoint") return response.end(log.sign());
  return response.writeHead(404).end("{}");
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { fetch } = globalThis;
  // The page sends its requests to the relay that serves it.
  vi.stubGlobal("fetch", (path: string, init: RequestInit) =>
    fetch(new URL(path, `http://127.0.0.1:${port}/`), init),
  );
});
afterAll(() => {
  vi.unstubAllGlobals();
  server.close();
});

test.each([
  ["/.well-known/agent-relay.json", 503],
  ["/log/v1/latest", 503],
  ["/log/v1/checkpoint", 429],
  ["/log/v1/tile/entries", 502],
])("TL18 the page of the log shows no log where %s is answered with %d", async (path, status) => {
  failing = [path, status];
  expect(await readLog()).toEqual({ ok: false, reason: "The log could not be read." });
});

test("the page of the log shows a log without a head, and reports missing entries", async () => {
  failing = ["/log/v1/", 404];
  expect(await readLog()).toMatchObject({ ok: true, log: { latest: null, entries: [] } });
  failing = ["/log/v1/tile/", 404];
  const reason = "The log lacks entries that its head covers.";
  expect(await readLog()).toEqual({ ok: false, reason });
});

test.each([
  [500, "The relay does not answer."],
  [503, "The relay does not answer."],
  [429, "Too many requests. Try again in a minute."],
  [409, "No head covers it yet. Try again in a second."],
  [404, "It is not in this log."],
])(
  "TL18 the page of the log shows for a request for a proof that is answered with %d: %s",
  async (status, reason) => {
    failing = ["/log/v1/proof", status];
    expect(await proveArtifact("0".repeat(64), logKey)).toEqual({ ok: false, reason });
  },
);
