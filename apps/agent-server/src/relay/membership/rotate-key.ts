import { bootstrapAgent, createRelayClient, type CallRefusal } from "@agent/client";
import { bytesToHex, getPublicKey, signSuccession } from "@agent/crypto";
import type { Config } from "../../config/config.ts";
import { beginKeyChange, finishKeyChange, type KeyChange } from "../../identity/key-change.ts";
import { addSuccession, loadSuccession } from "../../identity/succession-file.ts";
import type { Runtime } from "../../runtime.ts";

/**
 * Replaces the agent's key at its relay and in its data folder, for the command `rotate-key`; returns the
 * errors. After an interruption the same command completes the change. The agent must not run at the same
 * time.
 */
export async function rotateKey(
  { identity: { dataDir, passphrase, privateKeyHex }, relay }: Config,
  reason: string | undefined,
  { runtime, report }: { readonly runtime: Runtime; readonly report: (line: string) => void },
): Promise<readonly string[]> {
  if (relay === undefined) return ["rotate-key: the configuration must name a relay"];
  if (privateKeyHex !== undefined) {
    return ["rotate-key: cannot replace a key that is in AGENT_PRIVATE_KEY_HEX"];
  }
  const begun = await beginKeyChange({ dataDir, passphrase }, runtime);
  if (!begun.ok) return [`rotate-key: ${begun.fault}`];
  const { change } = begun;
  const taken = await sendSuccession(change, { dataDir, reason, baseUrl: relay.url, runtime });
  if (!taken.ok) return [`rotate-key: ${taken.message} (${taken.code})`];
  await finishKeyChange(dataDir, change);
  const publicKey = bytesToHex(getPublicKey(change.newSecretKey));
  report(`${change.agentId} has the key ${publicKey}; back ${dataDir} up again`);
  return [];
}

/** Lets the relay take the new key; nothing is sent if it has taken the key before. */
async function sendSuccession(
  { agentId, oldSecretKey, newSecretKey }: KeyChange,
  options: {
    readonly dataDir: string;
    readonly reason: string | undefined;
    readonly baseUrl: string;
    readonly runtime: Runtime;
  },
): Promise<{ readonly ok: true } | CallRefusal> {
  const { dataDir, reason, baseUrl, runtime } = options;
  const params = { agentId };
  const history = await createRelayClient({ ...runtime, baseUrl }).getSuccession({ params });
  const current = history.ok ? history.body.current_public_key : undefined;
  if (current === bytesToHex(getPublicKey(newSecretKey))) return { ok: true };
  const earlier = await loadSuccession(dataDir, bytesToHex(getPublicKey(oldSecretKey)));
  const agent = { ...runtime, baseUrl, agentId };
  const known = await bootstrapAgent({ ...agent, secretKey: oldSecretKey, succession: earlier });
  if (!known.ok && known.code !== "agent.key_displaced") return known;
  const succession = signSuccession({
    agent_id: agentId,
    oldSecretKey,
    newSecretKey,
    timestamp: runtime.now(),
    ...(reason !== undefined && { reason }),
  });
  // Stored first, because the relay may take the record and its answer get lost.
  await addSuccession(dataDir, succession);
  // A relay that gave the old key to another agent accepts no token under it, but the record.
  if (!known.ok) {
    const records = [...earlier, succession];
    return bootstrapAgent({ ...agent, secretKey: newSecretKey, succession: records });
  }
  const client = createRelayClient({ ...runtime, baseUrl, identity: known.identity });
  return client.rotateKey({ params, body: { succession: { ...succession } } });
}
