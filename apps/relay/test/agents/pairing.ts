import type { TestAgent } from "@agent/testkit";
import type { Reply, TestRelay } from "../test-relay.ts";

export interface PairingSession {
  readonly pairing_id: string;
  readonly pairing_code: string;
  readonly expires_at: number;
}

/** Opens a pairing session as its owner. */
export async function openPairing(
  t: Pick<TestRelay, "as">,
  owner: TestAgent,
): Promise<PairingSession> {
  const { status, body } = await t.as(owner, "POST", "/pairing/initiate");
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body as unknown as PairingSession;
}

/** Claims a code with a key, without any token. */
export function claimPairing(
  t: Pick<TestRelay, "request">,
  { pairing_code }: Pick<PairingSession, "pairing_code">,
  { publicKey: public_key }: Pick<TestAgent, "publicKey">,
): Promise<Reply> {
  const body = { pairing_code, device_name: "a phone", public_key };
  return t.request("POST", "/pairing/claim", { body });
}

/** Creates a paired device of the agent, which has another's or a new key, its own device id and the agent's id. */
export async function createPairedDevice(
  t: TestRelay,
  owner: TestAgent,
  scopes?: readonly string[],
  { secretKey, publicKey, did } = t.createUnknownAgent(),
): Promise<TestAgent> {
  const session = await openPairing(t, owner);
  await claimPairing(t, session, { publicKey });
  const path = `/pairing/${session.pairing_id}/approve`;
  const { status, body } = await t.as(owner, "POST", path, { scopes });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { ...owner, secretKey, publicKey, did, deviceId: body["device_id"] as string };
}
