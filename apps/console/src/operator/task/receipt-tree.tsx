import { isJsonObject } from "@agent/crypto";
import type { Verdict } from "@agent/verify";
import { showDuration } from "../../shared/format/show-amount.ts";
import { ForeignLine } from "../../shared/components/foreign-text.tsx";
import { listInner } from "../../verify/verifying/artifact-parts.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink } from "../subject-links.tsx";

/** Every receipt in the evidence, each below the one that delegated to it, with its own verdict. */
export function ReceiptTree({ verdict, artifact }: { verdict: Verdict; artifact: unknown }) {
  const inner = listInner(verdict, artifact).filter((each) => each.verdict.kind === "receipt");
  if (inner.length === 0) return null;
  return (
    <ul class="tree receipts" aria-label="Receipts">
      {inner.map((each, index) => (
        <li key={index}>
          <ReceiptLine verdict={each.verdict} receipt={each.value} />
          <ReceiptTree verdict={each.verdict} artifact={each.value} />
        </li>
      ))}
    </ul>
  );
}

function ReceiptLine({ verdict, receipt }: { verdict: Verdict; receipt: unknown }) {
  const members = isJsonObject(receipt) ? receipt : {};
  const { agent_id, status, tools_used, submitted_at, completed_at } = members;
  const held = verdict.checks.filter(({ ok }) => ok).length;
  const tools = Array.isArray(tools_used)
    ? tools_used.filter((tool) => typeof tool === "string")
    : [];
  return (
    <div class={verdict.valid ? "holds" : "fails"}>
      <span class="mark" aria-hidden="true">
        {verdict.valid ? "✓" : "✗"}
      </span>{" "}
      {verdict.valid ? "valid" : `refused, ${verdict.code ?? ""}`} ({held} of{" "}
      {verdict.checks.length} checks): {typeof agent_id === "string" && <AgentLink id={agent_id} />}{" "}
      {typeof status === "string" && <StateWord state={status} />}
      {typeof submitted_at === "number" && typeof completed_at === "number" && (
        <> in {showDuration(completed_at - submitted_at)}</>
      )}
      {tools.length > 0 && (
        <>
          , by <ForeignLine text={tools.join(", ")} max={60} />
        </>
      )}
    </div>
  );
}
