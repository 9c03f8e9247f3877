import { mintToken, type DeviceIdentity } from "@agent/client";
import { bytesToHex, generateKeyPair, publicKeyToDidKey, sha256Hex, uuidV7 } from "@agent/crypto";
import { signReceipt, type ExecutionReceipt, type ReceiptBody } from "@agent/receipts";
import { scopes, type Scope } from "@agent/wire";
import type { ManualClock } from "./clock.ts";
import type { SeededRandom } from "./random.ts";

/** The time and the randomness of a test. */
export interface TestEnvironment
  extends Pick<ManualClock, "now">, Pick<SeededRandom, "randomBytes"> {}

/**
 * An agent with one device. A relay assigns the device another id at bootstrap: `{...agent,
 * deviceId}`.
 */
export interface TestAgent extends DeviceIdentity {
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly did: string;
}

export function createTestAgent({ now, randomBytes }: TestEnvironment): TestAgent {
  const { publicKey, secretKey } = generateKeyPair(randomBytes(32));
  return {
    agentId: uuidV7(now(), randomBytes(10)),
    deviceId: uuidV7(now(), randomBytes(10)),
    secretKey,
    publicKey: bytesToHex(publicKey),
    did: publicKeyToDidKey(publicKey),
  };
}

/** Creates a signed token of the agent for `audience` (a did:key), by default with every scope. */
export function createToken(
  agent: TestAgent,
  audience: string,
  { now, randomBytes }: TestEnvironment,
  scope: readonly Scope[] = scopes,
): Promise<string> {
  const jti = uuidV7(now(), randomBytes(10));
  return mintToken({ ...agent, audience, scope, now: now(), jti });
}

/** The members of a task that its receipt contains. */
export interface TaskInput {
  readonly task_id: string;
  readonly prompt: string;
  readonly submitted_at: number;
}

/** Creates a receipt that proves the agent's task; `change` is applied before it is signed. */
export function createReceipt(
  agent: TestAgent,
  task: TaskInput,
  changes: Partial<ReceiptBody> = {},
): ExecutionReceipt {
  const result = changes.result ?? "done";
  const body: ReceiptBody = {
    task_id: task.task_id,
    relay_task_id: task.task_id,
    agent_id: agent.agentId,
    device_id: agent.deviceId,
    public_key: agent.publicKey,
    submitted_at: task.submitted_at,
    completed_at: task.submitted_at + 5,
    status: "completed",
    result,
    tools_used: [],
    memories_formed: 0,
    prompt_hash: sha256Hex(task.prompt),
    result_hash: sha256Hex(result),
    ...changes,
  };
  return signReceipt(body, agent.secretKey);
}
