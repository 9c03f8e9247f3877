// Two agents at a running relay: one delegates and pays, the other works and signs a receipt.
import { bootstrapAgent, connectSocket, createRelayClient, delegate } from "@agent/client";
import { bytesToHex, generateKeyPair, getPublicKey, sha256Hex } from "@agent/crypto";
import { signReceipt, type ExecutionReceipt } from "@agent/receipts";
import type { Received, Task } from "@agent/wire";

const baseUrl = process.env["AGENT_SYNC_URL"] ?? "http://127.0.0.1:3000";
const masterToken = process.env["AGENT_API_TOKEN"] ?? "";
const CAPABILITY = "add";

const operator = createRelayClient({ baseUrl, identity: { masterToken } });
const worker = await joinRelay();
const asker = await joinRelay();

// The worker offers its capability for 2 dollars and waits for tasks.
const pricing = [{ capability: CAPABILITY, unit_cost: 2 }];
unwrapBody(
  await worker.client.putListing({ params: worker, body: { capabilities: [CAPABILITY], pricing } }),
);
const socket = connectSocket({
  baseUrl,
  agentId: worker.agentId,
  bearer: () => worker.client.getBearer("socket"),
  onMessage(message) {
    if (message.type === "task_assigned") {
      socket.send({
        type: "result",
        task_id: message.task.task_id,
        receipt: { ...executeTask(message.task) },
      });
    }
  },
});

// The asker receives 10 dollars from the operator and spends some of them.
unwrapBody(await operator.deposit({ params: asker, body: { amount: 10 } }));
const done = await delegate(asker.client, {
  agentId: worker.agentId,
  prompt: "20 + 22",
  maxBudget: 3,
  timeoutMs: 30_000,
});
socket.close();
if (!done.ok) throw new Error(`${done.message} (${done.code})`);
console.log(`${done.receipt.status}: ${done.receipt.result}, receipt verified`);
for (const [name, { agentId, client }] of Object.entries({ asker, worker })) {
  const { balance } = unwrapBody(await client.getBalance({ params: { agentId } }));
  console.log(`${name} has ${balance}`);
}

/** Adds the numbers in the prompt and signs the receipt. */
function executeTask(task: Received<typeof Task>): ExecutionReceipt {
  const numbers = task.prompt.match(/\d+/g) ?? [];
  const result = String(numbers.reduce((sum, digits) => sum + Number(digits), 0));
  return signReceipt(
    {
      task_id: task.task_id,
      relay_task_id: task.task_id,
      agent_id: worker.agentId,
      device_id: worker.deviceId,
      public_key: bytesToHex(getPublicKey(worker.secretKey)),
      submitted_at: task.submitted_at,
      completed_at: Date.now(),
      status: "completed",
      result,
      tools_used: [CAPABILITY],
      memories_formed: 0,
      prompt_hash: sha256Hex(task.prompt),
      result_hash: sha256Hex(result),
    },
    worker.secretKey,
  );
}

/** Registers a new agent with its own key and creates its authenticated client. */
async function joinRelay() {
  const { secretKey } = generateKeyPair();
  const joined = await bootstrapAgent({ baseUrl, secretKey });
  if (!joined.ok) throw new Error(`${joined.message} (${joined.code})`);
  const client = createRelayClient({ baseUrl, identity: joined.identity });
  return { ...joined.identity, client };
}

function unwrapBody<Body>(answer: { ok: true; body: Body } | { ok: false; message: string }): Body {
  if (!answer.ok) throw new Error(answer.message);
  return answer.body;
}
