import { createPublicKey, verify } from "node:crypto";
import { canonicalize, fromBase64Url } from "@agent/crypto";
import { verifyReceipt } from "@agent/receipts";
import { createReceipt, createTestAgent } from "@agent/testkit";
import { computeMedian, printFigures } from "../figures.ts";

const ROUNDS = 9;
const REPEATS = 1_500;

/** Measures a full receipt check and its raw signature check, in alternation. */
export function benchmarkReceipts(): void {
  const world = {
    now: Date.now,
    randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  };
  const agent = createTestAgent(world);
  const task = { task_id: agent.deviceId, prompt: "x".repeat(100), submitted_at: Date.now() };
  const receipt = createReceipt(agent, task, { result: "word ".repeat(160) });
  const text = JSON.stringify(receipt);
  const { signature, ...body } = receipt;
  const message = Buffer.from(canonicalize(body));
  const raw = fromBase64Url(signature);
  const key = createPublicKey({
    key: {
      kty: "OKP",
      crv: "Ed25519",
      x: Buffer.from(agent.publicKey, "hex").toString("base64url"),
    },
    format: "jwk",
  });

  const whole: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(measureCheckRate(() => verify(null, message, key, raw)));
    whole.push(measureCheckRate(() => verifyReceipt(text, { publicKey: agent.publicKey }).valid));
  }
  printFigures([
    {
      name: `receipts of ${text.length} bytes verified / raw native verify`,
      value: computeMedian(whole) / computeMedian(bare),
      floor: 0.72,
      goal: 0.85,
    },
  ]);
}

function measureCheckRate(check: () => boolean): number {
  const start = performance.now();
  for (let i = 0; i < REPEATS; i += 1) if (!check()) throw new Error("a valid receipt was refused");
  return REPEATS / (performance.now() - start);
}
