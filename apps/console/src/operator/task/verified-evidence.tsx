import { useMemo } from "preact/hooks";
import { parseJsonText } from "@agent/crypto";
import { getOutcome, type Verdict, verifyArtifact } from "@agent/verify";
import { saveFile } from "../../shared/components/save-file.ts";
import { browserEnvironment } from "../../shared/relay/page-context.ts";
import { ReceiptTree } from "./receipt-tree.tsx";

/** The verdict of this browser on a file of evidence, and the receipts that are in it. */
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
  const isRefused = getOutcome(verdict, options) === "refused";
  return (
    <>
      <p class={isRefused ? "bad" : "good"} data-verified={!isRefused}>
        <strong>
          {isRefused
            ? `✗ Refused in this browser: ${verdict.code ?? "unknown"}`
            : `✓ Verified in this browser: all ${countChecks(verdict)} checks of the evidence hold`}
        </strong>{" "}
        <span class="hint">by the key that this relay states</span>
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

/** Counts the checks of an artifact and of all that are inside it. */
function countChecks({ checks, nested }: Verdict): number {
  return checks.length + nested.reduce((sum, inner) => sum + countChecks(inner), 0);
}
