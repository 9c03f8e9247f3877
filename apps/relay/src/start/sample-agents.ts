import {
  bootstrapAgent,
  connectSocket,
  createRelayClient,
  delegate,
  type RelayClient,
} from "@agent/client";
import { bytesToHex, generateKeyPair, getPublicKey, sha256Hex } from "@agent/crypto";
import { signReceipt } from "@agent/receipts";
import type { Received, Task } from "@agent/wire";
import type { Runtime } from "../runtime.ts";

const CAPABILITY = "count-words";
const PRICE = 0.1;
const START_MONEY = 100;
const PAUSE_MS = 5_000;
const PROMPTS = [
  "the quick brown fox jumps over the lazy dog",
  "to be or not to be",
  "-",
  "one two three four five six seven eight nine ten",
];

interface SampleAgent {
  readonly agentId: string;
  readonly deviceId: string;
  readonly secretKey: Uint8Array;
  readonly client: RelayClient;
}

interface SampleRelay {
  readonly baseUrl: string;
  readonly masterToken: string;
  readonly runtime: Pick<Runtime, "now" | "randomBytes" | "schedule">;
}

/** The two sample agents, which work at a relay until they are stopped. */
export interface SampleAgents {
  stop(): void;
}

/**
 * Starts an agent that counts words for money and one that delegates to it repeatedly. One of its prompts
 * contains no word, so that there is a failure to look at.
 */
export async function startSampleAgents(relay: SampleRelay): Promise<SampleAgents> {
  const { baseUrl, masterToken, runtime } = relay;
  const operator = createRelayClient({ baseUrl, identity: { masterToken } });
  const [worker, asker] = [await joinRelay(relay), await joinRelay(relay)];
  const pricing = [{ capability: CAPABILITY, unit_cost: PRICE }];
  unwrap(
    await worker.client.putListing({
      params: worker,
      body: { capabilities: [CAPABILITY], pricing },
    }),
  );
  unwrap(
    await operator.deposit({
      params: asker,
      body: { amount: START_MONEY, reference: "sample money" },
    }),
  );
  const socket = connectSocket({
    baseUrl,
    agentId: worker.agentId,
    bearer: () => worker.client.getBearer("socket"),
    onMessage(message) {
      if (message.type !== "task_assigned") return;
      const { task } = message;
      const receipt = { ...countWords(task, worker, runtime.now()) };
      socket.send({ type: "result", task_id: task.task_id, receipt });
    },
  });
  const stopped = new AbortController();
  let cancel = () => {};
  let asked = 0;
  const ask = () => {
    const prompt = PROMPTS[asked % PROMPTS.length] ?? "-";
    asked += 1;
    const { signal } = stopped;
    void delegate(asker.client, {
      agentId: worker.agentId,
      prompt,
      requiredCapabilities: [CAPABILITY],
      maxBudget: PRICE * 2,
      timeoutMs: PAUSE_MS * 4,
      signal,
    }).finally(() => {
      if (!signal.aborted) cancel = runtime.schedule(PAUSE_MS, ask);
    });
  };
  ask();
  return {
    stop() {
      stopped.abort();
      cancel();
      socket.close();
    },
  };
}

async function joinRelay({ baseUrl, runtime }: SampleRelay): Promise<SampleAgent> {
  const { secretKey } = generateKeyPair(runtime.randomBytes(32));
  const joined = await bootstrapAgent({ baseUrl, secretKey });
  if (!joined.ok) throw new Error(`${joined.message} (${joined.code})`);
  const client = createRelayClient({ baseUrl, identity: joined.identity });
  return { ...joined.identity, client };
}

/** Counts the words of a task's prompt and signs the receipt; a text without a word is a failure. */
function countWords(task: Received<typeof Task>, worker: SampleAgent, now: number) {
  const words = task.prompt.match(/\p{L}+/gu) ?? [];
  const result = words.length === 0 ? "the text contains no word" : String(words.length);
  return signReceipt(
    {
      task_id: task.task_id,
      relay_task_id: task.task_id,
      agent_id: worker.agentId,
      device_id: worker.deviceId,
      public_key: bytesToHex(getPublicKey(worker.secretKey)),
      submitted_at: task.submitted_at,
      completed_at: now,
      status: words.length === 0 ? "failed" : "completed",
      result,
      tools_used: [CAPABILITY],
      memories_formed: 0,
      prompt_hash: sha256Hex(task.prompt),
      result_hash: sha256Hex(result),
    },
    worker.secretKey,
  );
}

function unwrap(answer: { readonly ok: boolean; readonly message?: string }): void {
  if (!answer.ok) throw new Error(answer.message);
}
