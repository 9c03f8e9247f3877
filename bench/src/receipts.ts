import { createPublicKey, verify } from "node:crypto";
import { canonicalize, fromBase64Url } from "@agent/crypto";
import { verifyReceipt } from "@agent/receipts";
import { receiptOf, testAgent } from "@agent/testkit";
import { median, printFigures } from "./figures.ts";

const rounds = 9;
const repeats = 1_500;

/** A whole receipt check beside the raw signature check inside it, taken in turn. */
export function receipts(): void {
  const world = {
    now: Date.now,
    randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  };
  const agent = testAgent(world);
  const task = { task_id: agent.deviceId, prompt: "x".repeat(100), submitted_at: Date.now() };
  const receipt = receiptOf(agent, task, { result: "word ".repeat(160) });
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
  for (let round = 0; round < rounds; round += 1) {
    bare.push(rate(() => verify(null, message, key, raw)));
    whole.push(rate(() => verifyReceipt(text, { publicKey: agent.publicKey }).valid));
  }
  printFigures([
    {
      name: `receipts of ${text.length} bytes verified / raw native verify`,
      value: median(whole) / median(bare),
      floor: 0.72,
      goal: 0.85,
    },
  ]);
}

function rate(check: () => boolean): number {
  const start = performance.now();
  for (let i = 0; i < repeats; i += 1) if (!check()) throw new Error("a valid receipt was refused");
  return repeats / (performance.now() - start);
}
