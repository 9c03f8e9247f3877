import { flattenChain, type ExecutionReceipt } from "@agent/receipts";
import type { Signer } from "@agent/verify";
import { getSuccession } from "../../agents/keys/get-succession.ts";
import { listAgentDevices } from "../../agents/devices/device-store.ts";
import type { Reader } from "../../storage/storage.ts";

/**
 * Lists the key history of every signer in the receipt tree, and of others that signed, with `known`
 * unchanged; an unknown agent has none.
 */
export function listSigners(
  read: Reader,
  receipt: ExecutionReceipt,
  {
    known,
    others = [],
  }: { readonly known?: Signer | undefined; readonly others?: readonly string[] | undefined },
): Promise<Signer[]> {
  const inner = flattenChain(receipt).links.map((link) => link.receipt.agent_id);
  const agents = new Set([receipt.agent_id, ...inner, ...others]);
  return Promise.all(
    [...agents].map(async (agentId) =>
      agentId === known?.agent_id ? known : loadSigner(read, agentId),
    ),
  );
}

async function loadSigner(read: Reader, agent_id: string): Promise<Signer> {
  const [history, devices] = await Promise.all([
    getSuccession(read, agent_id),
    listAgentDevices(read, agent_id),
  ]);
  const { keys, chain } = history.ok === false ? { keys: [], chain: [] } : history.body;
  const own = new Set(keys.map(({ public_key }) => public_key));
  return {
    agent_id,
    keys,
    chain,
    // A device that carries the agent's key adds nothing, and changes with every rotation.
    devices: devices
      .filter(({ public_key }) => !own.has(public_key))
      .map(({ device_id, public_key, registered_at, revoked_at }) => ({
        device_id,
        public_key,
        valid_from: registered_at,
        valid_until: revoked_at,
      })),
  };
}
