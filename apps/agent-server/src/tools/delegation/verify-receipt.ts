import { HEX_OF_32_BYTES } from "@agent/crypto";
import { verifyReceiptAsync } from "@agent/receipts";
import * as v from "valibot";
import { defineTool } from "../define-tool.ts";

const RECEIPT_RULE = "must be a receipt, as an object or as its JSON text";

/** Creates the tool that verifies a receipt offline; it works while the relay is away. */
export function verifyReceiptTool() {
  return defineTool({
    name: "verify_receipt",
    description:
      "Verify a signed receipt offline. Without `key` the verdict is at best `unanchored`: the signature " +
      "is that of the key which the receipt itself names, and any party can make such a receipt.",
    risk: 0,
    input: v.strictObject({
      receipt: v.union([v.record(v.string(), v.unknown()), v.string()], RECEIPT_RULE),
      key: v.optional(
        v.pipe(v.string(), v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits")),
      ),
    }),
    async run({ receipt, key }) {
      const verdict = await verifyReceiptAsync(receipt, { publicKey: key });
      const { valid, checks, code } = verdict;
      if (!valid) {
        return { ok: false, error: `The receipt is refused (${code})` };
      }
      const { agent_id: agentId, relay_task_id: taskId, status } = verdict.receipt;
      return {
        ok: true,
        data: JSON.stringify({
          valid,
          verdict: key === undefined ? "unanchored" : "valid",
          agent_id: agentId,
          task_id: taskId ?? null,
          status,
          checks,
          nested: verdict.nested.map((one) =>
            one.valid ? { valid: true } : { valid: false, code: one.code },
          ),
        }),
      };
    },
  });
}
