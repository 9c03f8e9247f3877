import { deriveAgentId, bytesToHex, fromBase64Url, generateKeyPair, verify } from "@agent/crypto";
import { expect, test } from "vitest";
import { bootstrapAgent } from "./bootstrap.ts";
import { startLocalServer } from "./testing/local-server.ts";

const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(1));
const AGENT_ID = "019b7d21-53eb-7ccd-926c-3badff397897";
const now = () => 1_760_000_000_000;
const accepted = { agent_id: AGENT_ID, device_id: "device-1", registered: true };

interface Sent {
  readonly agent_id: string;
  readonly public_key: string;
  readonly proof: { readonly timestamp: number; readonly signature: string };
}

test("bootstrapAgent sends a proof of possession and returns the identity for a client", async () => {
  await using server = await startLocalServer(() => ({ status: 201, body: accepted }));
  expect(await bootstrapAgent({ ...server, agentId: AGENT_ID, secretKey, now })).toEqual({
    ok: true,
    registered: true,
    identity: { agentId: AGENT_ID, deviceId: "device-1", secretKey },
  });
  const sent = JSON.parse(server.received[0]?.body ?? "") as Sent;
  expect(sent).toMatchObject({
    agent_id: AGENT_ID,
    public_key: bytesToHex(publicKey),
    proof: { timestamp: now() },
  });
  const text = `${sent.agent_id}:${sent.public_key}:${sent.proof.timestamp}`;
  expect(verify(fromBase64Url(sent.proof.signature), text, publicKey)).toBe(true);
});

test("D1: bootstrapAgent derives the version 8 id of the key when no id is given", async () => {
  await using server = await startLocalServer(({ body }) => ({
    status: 201,
    body: { ...accepted, agent_id: (JSON.parse(body) as Sent).agent_id },
  }));
  const first = await bootstrapAgent({ ...server, secretKey, now });
  const second = await bootstrapAgent({ ...server, secretKey, now });
  if (!first.ok || !second.ok) throw new Error("refused");
  expect(first.identity.agentId).toBe(deriveAgentId(bytesToHex(publicKey)));
  expect(second.identity.agentId).toBe(first.identity.agentId);
});

test("bootstrapAgent returns the relay's refusal of another key", async () => {
  const body = { code: "agent.key_changed", message: "Public key changed" };
  await using server = await startLocalServer(() => ({ status: 409, body }));
  expect(await bootstrapAgent({ ...server, agentId: AGENT_ID, secretKey, now })).toMatchObject({
    ok: false,
    code: "agent.key_changed",
    status: 409,
  });
});
