import { readFileSync } from "node:fs";
import { verifyReceipt } from "@agent/receipts";

const [file = "receipt.json", publicKey] = process.argv.slice(2);
const verdict = verifyReceipt(readFileSync(file, "utf8"), { publicKey });
for (const { name, ok, code } of verdict.checks) console.log(ok ? "ok" : "no", name, code ?? "");
console.log(verdict.valid ? "valid" : `refused: ${verdict.code}`);
process.exitCode = verdict.valid ? 0 : 1;
