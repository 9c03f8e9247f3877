import { useMemo } from "preact/hooks";
import { parseJsonText } from "@agent/crypto";
import { verifyArtifact } from "@agent/verify";
import { saveFile } from "../../shared/components/save-file.ts";
import { browserEnvironment } from "../../shared/relay/page-context.ts";
import { describeEvidence } from "./describe-evidence.ts";
import { ReceiptTree } from "./receipt-tree.tsx";

/** The verdict of this browser on an evidence file, and the receipts in it. */
export function VerifiedEvidence({
  text,
  publicKey,
  taskId,
}: {
  text: string;
  publicKey: string;
  taskId: string;
}) {
  const options = { now: browserEnvironment.now(), publicKey };
  const verdict = useMemo(() => verifyArtifact(text, options), [text, publicKey]);
  const artifact = useMemo(() => parseJsonText(text)?.value, [text]);
  const { tone, sentence } = describeEvidence(verdict);
  return (
    <>
      <p class={tone} data-verified={verdict.valid}>
        <strong>{sentence}</strong> <span class="hint">by the key that this relay states</span>
      </p>
      <ReceiptTree verdict={verdict} artifact={artifact} />
      <p class="buttons">
        <button
          type="button"
          onClick={() => saveFile(`evidence-${taskId}.json`, "application/json", text)}
        >
          Save the evidence
        </button>
        <a class="link-button" href="./verify" target="_blank" rel="noopener">
          Open the verifier
        </a>
      </p>
    </>
  );
}
